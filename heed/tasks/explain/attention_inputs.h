// Attention on the user's own arrays, from wherever they come: checked, and put into the form that the walk takes.
//
//   AttentionInputs problem = attention_inputs({.q = read_array("--q", "[[1, 0, 1], [0, 1, 1]]"),
//                                               .k = read_array("--k", "k.npy"),
//                                               .v = read_array("--v", "v.txt")});
//   Explanation walk = explain_attention(problem);
#pragma once

#include "heed/base/index.h"
#include "heed/tasks/explain/attention_walk.h"
#include "heed/tasks/explain/named_array.h"

namespace heed {

struct AttentionArrays {
  // Either queries, keys and values, all of one rank: [L, D], [H, L, D] or [B, H, L, D].
  NamedArray q{}, k{}, v{};
  // Or rows and what projects them: see ProjectedRows. memory and w_o may be empty.
  NamedArray x{}, memory{}, w_q{}, w_k{}, w_v{}, w_o{};
  // Matrices [L, heads * D] are cut into heads; keys and values into key_heads, or where it is 0 into as many.
  Index heads = 1, key_heads = 0;
  NamedArray mask{};             // true or 1 where a query may attend to a key: [Lq | 1, Lk], or more axes
  NamedArray additive_vector{};  // D numbers
};

// Checks the arrays against each other; with neither q nor x, the two-by-two example's. Throws heed::Error that names
// the arrays and their shapes where they do not fit.
AttentionInputs attention_inputs(const AttentionArrays& arrays);

}  // namespace heed
