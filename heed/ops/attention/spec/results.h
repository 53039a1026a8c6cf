// What an attention call fills, and what its backward call starts from.
//
//   attention(q, k, v, spec, {.out = o, .row_stat = stat}, workspace);
//   attention_backward(q, k, v, spec, {o, stat, dout}, {.dq = dq, .dk = dk, .dv = dv}, workspace);
#pragma once

#include <vector>

#include "heed/base/index.h"
#include "heed/tensor/view.h"

namespace heed {

// How far a score has come when it is returned; the last stage, normalised, is the weights.
enum class ScoreStage {
  raw,     // after the scale
  capped,  // after the soft-cap
  masked,  // with the bias, and -inf for refused keys
};

// What a forward call fills; an empty view is not wanted. Numbers are rounded to the type of the view.
struct AttentionResult {
  View out{};  // [B, H, Lq, Dv], the type of q
  // [B, H, Lq], f32 (f64 where q is f64), by which any weight can be computed again: softmax: log-sum-exp of the row
  // (and of its sink); sparsemax and entmax15: tau; sum: the sum; sigmoid: 0. -inf for a row with no allowed key. Its
  // rounding is that of the weights computed from it, and of the gradients: at a statistic of 1e4 in f32, 5e-4 of each.
  // (A bias that pushes all keys of a row so far down, as ALiBi does far from the query, or -FLT_MAX in place of a
  // mask, costs that.)
  View row_stat{};
  View weights{};  // [B, H, Lq, Lk], the type of q: before dropout
  View scores{};   // [B, H, Lq, Lk], the type of q, at score_stage
  ScoreStage score_stage = ScoreStage::capped;
};

// What a backward call starts from: out and row_stat as the forward call filled them, and the gradients of both.
struct AttentionSaved {
  ConstView out{}, row_stat{};
  ConstView dout{};       // [B, H, Lq, Dv], the type of q
  ConstView drow_stat{};  // [B, H, Lq], the type of row_stat; empty: zero
};

// What a backward call fills; an empty view is not wanted. dq, dk, dv are overwritten; the others, which are f32 (f64
// where q is f64), accumulate.
struct AttentionGrad {
  View dq{}, dk{}, dv{};    // the shapes and types of q, k, v
  View dbias{};             // the shape of bias.dense
  View dadditive_vector{};  // [D]
  View dsinks{};            // [H]
  View drelative{};         // [buckets, H], of bias.relative.table
  View dcentre{};           // the shape of bias.gaussian.centre
};

// Heads and rows, in the order in which they are wanted; an empty list is all of them.
struct AttentionSelection {
  std::vector<Index> heads{}, rows{};

  // The head and the row that stand at a place of the result.
  Index head(Index at) const { return heads.empty() ? at : heads[static_cast<std::size_t>(at)]; }
  Index row(Index at) const { return rows.empty() ? at : rows[static_cast<std::size_t>(at)]; }
};

}  // namespace heed
