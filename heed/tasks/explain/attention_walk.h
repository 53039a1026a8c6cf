// Attention taken apart, on the two-by-two example or on anybody's numbers.
//
//   Explanation walk = explain_attention(two_by_two_inputs());
//   AttentionInputs mine{.q = q, .k = k, .v = v, .causal = true};
//   mine.attention = AttentionChoice("cosine + sparsemax");
//   Explanation sparse = explain_attention(mine);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/layers/attention_choice.h"
#include "heed/tasks/explain/explanation.h"
#include "heed/tasks/explain/projected_rows.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Attention to explain. q [B, H, Lq, D], k [B, Hk, Lk, D], v [B, Hk, Lk, Dv], all f64.
struct AttentionInputs {
  Tensor q{}, k{}, v{};
  // The score, soft-cap, ALiBi, masks and normaliser; scaled dot products and softmax where nothing is chosen.
  AttentionChoice attention{};
  Tensor additive_vector{};             // f64 [D]: v_a of the score `additive`, which needs it
  std::optional<double> scale{};        // instead of the score's own
  bool causal = false;                  // the last query sees the last key
  Tensor allowed{};                     // boolean [B | 1, H | 1, Lq | 1, Lk], true means attend; empty: no such mask
  bool heads_of_one_matrix = false;     // the heads are columns of one matrix each, so their outputs are joined again
  std::optional<ProjectedRows> rows{};  // what q, k and v were projected from
  // Names of queries and keys; q1, q2, ... and k1, k2, ... where there are none. Keys without names of their own have
  // those of the queries, where they are as many and of no memory: the same words.
  std::vector<std::string> query_labels{}, key_labels{};
};

// Q and K 2x3, V 2x2, with Q K^T = [[1, 1], [1, 2]]: the scaled scores are [[0.577, 0.577], [0.577, 1.155]], the
// weights [[0.5, 0.5], [0.360, 0.640]].
AttentionInputs two_by_two_inputs();

// Returns the steps, each with a matrix for every head:
//   rows and projections, where there are rows: X, and Q = X W_Q, K and V; else inputs: Q, K and V;
//   features (of a feature map), scores, scaled (not of additive scores and feature maps), capped and biased (where
//   there is such a bias), masked;
//   exponentials (of softmax, where every sum can be written: they are for the pencil), threshold (of sparsemax and
//   entmax) or sums (of sum);
//   weights, output, and concatenation and projection where the heads are of one matrix and there is a W_O.
// Every number is the operator's (attention_stages.h), but for features, which it does not give. Throws heed::Error for
// more than a million numbers in an array or in the scores, for terms that turn positions or that training would have
// to learn (rotary, relative, sinks), for labels of another number, and as attention() does.
Explanation explain_attention(const AttentionInputs& given, Language language = Language::english);

}  // namespace heed
