// Joins attention over two disjoint sets of keys into attention over both, exactly: from each side's output and row
// statistic alone. Keys split among caches, machines or calls (split-KV decoding, ring attention, cascades) meet here.
//
//   attention(q, k_old, v_old, {}, {.out = out_a, .row_stat = stat_a}, workspace);
//   attention(q, k_new, v_new, {}, {.out = out_b, .row_stat = stat_b}, workspace);
//   merge_attention({out_a, stat_a}, {out_b, stat_b}, {.out = out, .row_stat = stat});   // as over all keys at once
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// What attention() gave for one set of keys, under a softmax without dropout, and with sinks in one part at most: a
// sink is in the row's statistic.
struct AttentionPart {
  ConstView out{};       // [B, H, Lq, Dv]: f32, f64, bf16 or f16, the last axis with stride 1
  ConstView row_stat{};  // [B, H, Lq]: the log-sum-exp of its rows; f32, or f64 where out is f64
};

// What merge_attention fills, of the shapes and types of the parts; an empty view is not wanted.
struct MergedAttention {
  View out{};
  View row_stat{};
};

// What merge_attention_backward fills, of the shapes and types of the parts; an empty view is not wanted.
struct MergeGrad {
  View dout_a{}, drow_stat_a{};
  View dout_b{}, drow_stat_b{};
};

// For each row, with w_a = e^(stat_a - stat) = sigmoid(stat_a - stat_b) and w_b = 1 - w_a:
//   stat = log(e^stat_a + e^stat_b)      out = w_a out_a + w_b out_b
// (Dao et al. 2022, "FlashAttention", section 3.1, with the row's maximum and sum joined into one number). Overwrites
// the result, which may be one of the parts. A side whose statistic is -inf saw no key and does not count, whatever its
// output holds; where neither did, out is 0 and stat -inf. A NaN in a side that counts propagates. The weights are
// computed in f64, the sum in f32 (f64 for f64). A row's bits depend on that row alone. Throws heed::Error for operands
// that disagree.
void merge_attention(const AttentionPart& a, const AttentionPart& b, const MergedAttention& result);

// With g = w_a w_b dout . (out_a - out_b):
//   dout_a = w_a dout      drow_stat_a = w_a drow_stat + g
//   dout_b = w_b dout      drow_stat_b = w_b drow_stat - g
// Overwritten; dout_a or dout_b may be dout. drow_stat may be empty, for zero. A side that saw no key gets zero.
void merge_attention_backward(const AttentionPart& a, const AttentionPart& b, ConstView dout, ConstView drow_stat,
                              const MergeGrad& grad);

}  // namespace heed
