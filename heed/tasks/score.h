// How likely a model finds given text, token by token.
//
//   ModelFolder model = load_model_folder("model");
//   for (const TokenScores& line : score_translations(model, sources, targets)) print(line.sum());
//   for (const TokenScores& line : score_documents(language_model, lines)) print(line.log_probabilities);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/progress.h"
#include "heed/tasks/model_folder.h"

namespace heed {

struct TokenScores {
  std::vector<std::int32_t> tokens;       // of the text, and last the end token
  std::vector<double> log_probabilities;  // of each after those before it

  double sum() const;
};

// Of each target, given the source of the same place. Batches hold about batch_tokens tokens; a line's scores have the
// same bits in any. Throws heed::Error where there are not as many of both, where the model has no source, and, naming
// `name` and the line, for a side of more tokens than the model can hold. Progress counts lines, here and below.
std::vector<TokenScores> score_translations(const ModelFolder& folder, std::span<const std::string> sources,
                                            std::span<const std::string> targets, std::string_view name = "input",
                                            Index batch_tokens = kBatchTokens, const Progress& progress = {});

// Of each document. One of more tokens than the model can hold is read in passages, as in training
// (heed/text/documents.h). A line without tokens has none. Throws heed::Error where the model has a source.
std::vector<TokenScores> score_documents(const ModelFolder& folder, std::span<const std::string> lines,
                                         Index batch_tokens = kBatchTokens, const Progress& progress = {});

}  // namespace heed
