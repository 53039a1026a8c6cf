// What `heed view` looks at: traces of lines that a model translates or reads.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/tasks/trace.h"
#include "heed/tasks/translate.h"

namespace heed::cli {

struct ViewedText {
  std::string model, input;
  std::optional<std::string> text, target;
  BeamOptions beam{};
  LongLines long_lines = LongLines::fail;
};

// What is looked at, and each line's translation.
struct Views {
  std::vector<AttentionTrace> traces;     // of the lines that hold a sentence
  std::vector<std::string> translations;  // of all lines; none where the model is a language model
};

// Loads the model and runs it. Throws CLI::ValidationError for an option in `sub` that the model has no use for.
Views make_views(const ViewedText& viewed, const CLI::App& sub);

}  // namespace heed::cli
