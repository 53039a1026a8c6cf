// The words that a mask hides: a masked language model's guesses (Devlin et al. 2019, section 3.1).
//
//   ModelFolder folder = load_model_folder("bert-base-uncased");
//   const auto filled = fill_masks(folder, lines, 5);                      // lines: "The [MASK] barked."
//   for (const MaskedWord& mask : filled[0]) print(folder.source_vocabulary->piece(mask.candidates[0].token));
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/progress.h"
#include "heed/tasks/model_folder.h"

namespace heed {

struct MaskedWord {
  struct Candidate {
    std::int32_t token;
    double probability;
  };
  Index position;                     // of the mask among the ids
  std::vector<Candidate> candidates;  // the likeliest first; of two that are equally likely the lower id
  std::vector<std::int32_t> ids;      // of the text, as the model read it
};

// The `most` likeliest tokens for each mask of each line, in order. A mask is written "[MASK]", or as the vocabulary
// writes its own ("<mask>"). Throws heed::Error where the model guesses no masked words, or its vocabulary has no mask,
// and, naming `name` and the line, for a line without a mask or of more tokens than the model can hold.
std::vector<std::vector<MaskedWord>> fill_masks(const ModelFolder& folder, std::span<const std::string> lines,
                                                Index most = 5, std::string_view name = "input",
                                                Index batch_tokens = kBatchTokens, const Progress& progress = {});

// The text of a mask's line with a candidate in its place, and without what the template added.
std::string filled_text(const Vocabulary& vocabulary, const MaskedWord& mask, std::int32_t candidate);

}  // namespace heed
