// A learner's own rows: embeddings X, and the matrices that make queries, keys and values of them.
//
//   ProjectedRows rows{.x = x, .w_q = w_q, .w_k = w_k, .w_v = w_v, .heads = 2, .key_heads = 2};
//   const ProjectedRows::Heads heads = rows.project();       // heads.q [1, 2, L, D], ...
#pragma once

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed {

// All f64 matrices, which multiply rows from the right, as papers and tutorials have it.
struct ProjectedRows {
  struct Heads {
    Tensor q, k, v;  // [1, H, L, D], [1, Hk, M, D], [1, Hk, M, Dv]
  };

  Tensor x{};       // [L, E]
  Tensor memory{};  // [M, E']: what keys and values are made of in cross-attention; empty: x
  Tensor w_q{};     // [E, H * D]
  Tensor w_k{};     // [E', Hk * D]
  Tensor w_v{};     // [E', Hk * Dv]
  Tensor w_o{};     // [H * Dv, Out]; empty: there is none
  Index heads = 1, key_heads = 1;

  const Tensor& read() const { return memory.is_empty() ? x : memory; }
  // Q = X W_Q, K = memory W_K, V = memory W_V, cut into heads. Throws heed::Error, naming the matrices, where shapes do
  // not fit.
  Heads project() const;
};

}  // namespace heed
