// heed evaluate --model LM --text FILE: a language model's perplexity.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

namespace heed::cli {

struct EvaluateText {
  std::string text, counts_of;
};

// Adds the options, which need --model and go with none of those of translations.
void add_text_options(CLI::App& sub, EvaluateText& command, CLI::Option* model,
                      std::initializer_list<CLI::Option*> of_translations);
// Prints how well the model predicts the text and, with counts_of, how well counts on that text do.
void evaluate_text(const EvaluateText& command, const std::string& model, bool json);

}  // namespace heed::cli
