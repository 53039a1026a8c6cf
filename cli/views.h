// What `heed view` looks at: traces of lines that a model translates or reads, of a picture or a sound, or of a file.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/tasks/trace.h"
#include "heed/tasks/translate.h"
#include "output_files.h"

namespace heed::cli {

struct Viewed {
  std::string of;  // a model, or a file of traces
  std::string input, image, sound, gold;
  std::optional<std::string> text, text_pair, target;
  std::optional<Index> beam;  // without it, as the model's folder says
  Languages languages;
  LongLines long_lines = LongLines::fail;
  std::vector<std::string> record{};
};

// Whether the name is that of a file of traces: .json or .npz.
bool is_trace_file(const std::string& path);

// What is looked at, and each line's translation.
struct Views {
  std::vector<AttentionTrace> traces;     // of the lines that hold a sentence
  std::vector<std::string> translations;  // of all lines; none where the model is a language model
};

void add_viewed_options(CLI::App& sub, Viewed& viewed);
// The names of all but the model itself.
std::vector<const char*> viewed_option_names();
// Throws CLI::ValidationError or CLI::RequiredError for options that do not go together.
void check_viewed(const Viewed& viewed, const CLI::App& sub);
// The files that are read.
std::vector<OptionFile> viewed_files(const Viewed& viewed);

// Reads the file, or loads the model and runs it. For a page, all that a page shows is recorded, unless --record says
// otherwise; where that is too large for one, a message says so and the weights alone stay. Throws CLI::ValidationError
// for an option in `sub` that the model has no use for.
Views make_views(const Viewed& viewed, bool for_page, const CLI::App& sub);

}  // namespace heed::cli
