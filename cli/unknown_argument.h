// Arguments that no command knows, and options that would be taken for a value: named, with what was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace heed::cli {

// Makes `--input --beam 5` and `--input ''` errors about --input, in this application's every command: no option takes
// the name of another one for its value, nor, but for those of text, nothing.
void require_values(CLI::App& app);

// What to say where parsing ended with this error. An option that no command knows comes first, with a hint at the
// nearest one, since it is the likely reason for whatever else is wrong.
std::string describe_mistake(const CLI::App& app, const CLI::ParseError& error);

}  // namespace heed::cli
