// How large the sums are that an attention's answers are made of, every term taken by its magnitude: what a rounding is
// measured against where terms cancel.
#pragma once

#include "heed/testing/attention_answer.h"

namespace heed::testing {

struct AttentionMagnitudes {
  double of[std::size(kAttentionAnswerParts)] = {};  // the largest over each part of the answer
};

// Of a problem in f64 and its exact answer.
AttentionMagnitudes magnitudes_of(const AttentionSample& problem, const AttentionAnswer& exact);

}  // namespace heed::testing
