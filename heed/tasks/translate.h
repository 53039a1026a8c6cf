// Raw text in, raw text out.
//
//   ModelFolder model = load_model_folder("model");
//   Translator translator(model);
//   translator.translate({"Guten Morgen."}, {.beam = 5})[0][0].text;
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/decode/beam_search.h"
#include "heed/tasks/model_folder.h"

namespace heed {

struct Translation {
  std::string text;
  double score = 0;                  // log-probability after the length penalty
  std::vector<std::int32_t> tokens;  // target ids, without the end token
  std::vector<double> token_scores;  // log-probabilities of tokens, then of the end token
};

class Translator {
 public:
  // Holds on to the model and vocabularies, which must outlive it.
  explicit Translator(const TranslationModel& model, const Vocabulary& source, const Vocabulary& target);
  explicit Translator(const ModelFolder& folder)
      : Translator(*folder.model, *folder.source_vocabulary, *folder.target_vocabulary) {}

  // Translates lines; result i is of line i, best first. Batches of at most batch_tokens source tokens are formed from
  // lines of like length, which changes no bit of a result. A line without tokens gives one empty translation of score
  // 0. Throws heed::Error naming `name` and the line for a sentence of more tokens than the model can hold.
  std::vector<std::vector<Translation>> translate(std::span<const std::string> lines, const BeamOptions& options,
                                                  std::string_view name = "input", Index first_line = 1,
                                                  Index batch_tokens = 2048);

 private:
  const TranslationModel& model_;
  const Vocabulary& source_;
  const Vocabulary& target_;
  Workspace workspace_;
};

}  // namespace heed
