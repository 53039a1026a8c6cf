// Scaled dot-product attention taken apart, on the two-by-two example or on anybody's numbers.
//
//   Explanation walk = explain_attention(two_by_two_inputs());
//   AttentionInputs mine{.q = q, .k = k, .v = v, .causal = true};
#pragma once

#include <optional>

#include "heed/tasks/explain/explanation.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Attention to explain. q [B, H, Lq, D], k [B, Hk, Lk, D], v [B, Hk, Lk, Dv], all f64.
struct AttentionInputs {
  Tensor q, k, v;
  std::optional<double> scale{};     // 1 / sqrt(D) where it is not given
  bool causal = false;               // the last query sees the last key
  Tensor allowed{};                  // boolean [B | 1, H | 1, Lq | 1, Lk], true means attend; empty: no such mask
  bool heads_of_one_matrix = false;  // the heads are columns of one matrix each, so their outputs are joined again
};

// Q and K 2x3, V 2x2, with Q K^T = [[1, 1], [1, 2]]: the scaled scores are [[0.577, 0.577], [0.577, 1.155]], the
// weights [[0.5, 0.5], [0.360, 0.640]].
AttentionInputs two_by_two_inputs();

// Returns the steps inputs, scores, scaled, masked, exponentials (where every sum can be written: they are for the
// pencil), weights and output, each with a matrix for every head; then concatenation, where the heads are of one
// matrix. Every number is the operator's (attention_stages.h). Throws heed::Error for more than a million numbers in an
// array or in the scores, and as attention() does.
Explanation explain_attention(const AttentionInputs& problem);

}  // namespace heed
