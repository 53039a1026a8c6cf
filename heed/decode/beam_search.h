// Beam search over a translation model; greedy decoding is a beam of one.
//
//   std::vector<std::vector<Hypothesis>> best = beam_search(model, source, {.beam = 5}, special, workspace);
#pragma once

#include <vector>

#include "heed/models/translation_model.h"

namespace heed {

inline constexpr Index kWidestBeam = 1000;

struct BeamOptions {
  Index beam = 5;             // hypotheses kept for each sentence; 1 is greedy
  double length_penalty = 1;  // a finished hypothesis scores sum(log p) / length^length_penalty, its end token counted
  Index best = 1;             // hypotheses returned for each sentence, at most `beam`
  // A translation has at most max_ratio * source tokens (the end token counted) + max_extra tokens, and at most what
  // the model can hold.
  double max_ratio = 2;
  Index max_extra = 10;
};

// The ids with a meaning of their own.
struct SpecialTokens {
  std::int32_t begin = 2, end = 3, pad = 0, unknown = 1;
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without begin and end
  double score = 0;                  // after the length penalty: what hypotheses are ordered by
  std::vector<double> token_scores;  // log-probabilities of tokens, and last of the end token
};

// Translates each sentence of `source` (inference: no gradient, no dropout). Returns, for each, its best hypotheses,
// best first. A sentence stops when `beam` hypotheses have ended among its best, or at its greatest length, where the
// end token is forced. pad, begin and unknown are never produced. Ties go to the earlier hypothesis and then the
// smaller id. A sentence's result has the same bits in any batch. Throws heed::Error for options out of range, and
// where a model's scores are all NaN.
std::vector<std::vector<Hypothesis>> beam_search(const TranslationModel& model, const TokenBatch& source,
                                                 const BeamOptions& options, const SpecialTokens& special,
                                                 Workspace& workspace);

}  // namespace heed
