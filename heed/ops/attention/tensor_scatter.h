// Writes new rows into a cache that was allocated once: how a decoder's keys and values grow without copying the old.
//
//   Tensor keys = Tensor::zeros(DType::bf16, {batch, key_heads, longest, width});
//   tensor_scatter(k /*[B, Hk, L, D]*/, lengths /*[B]*/, keys);           // rows lengths[b] ... of keys[b] become k[b]
#pragma once

#include "heed/tensor/view.h"

namespace heed {

enum class ScatterMode {
  linear,    // rows stop at the cache's end
  circular,  // row numbers are modulo the cache's length: the last `length` rows stay, the older are overwritten
};

// cache[b, ..., start[b] + s, ...] = update[b, ..., s, ...] for each s along `axis`, in place: ONNX TensorScatter-24.
// cache [B, ..., M, ...] and update [B, ..., S, ...] with S <= M have one shape but for `axis`, which is not the
// batch's (0) and counts from the end where negative; ranks 2 to 4, any strides, any types that copy() converts
// between. start: i32 or i64 [B]; empty: zeros. Throws heed::Error for operands that disagree, for an update that lies
// in the cache, for a negative start, and in linear mode for rows past the end, before anything is written. What is not
// written keeps its bits. O(update).
void tensor_scatter(ConstView update, ConstView start, View cache, int axis = -2,
                    ScatterMode mode = ScatterMode::linear);

}  // namespace heed
