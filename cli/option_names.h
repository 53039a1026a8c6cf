// The names of a command's options.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

namespace heed::cli {

// Whether the command has an option of this long name, such as "--beam". CLI11's own search for one by its name may not
// throw, and so ends the process where memory is short: options that need or exclude others are given them by pointer.
bool has_option(const CLI::App& command, std::string_view name);
// Whether an option that the command has was on the command line.
bool was_given(const CLI::App& command, std::string_view name);

}  // namespace heed::cli
