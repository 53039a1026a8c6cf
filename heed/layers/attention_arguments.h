// What one call of an attention layer is given besides its queries, keys and values: PyTorch's arguments and heed's
// masks, and both as one mask and one bias for the operator.
//
//   attention.forward(context, q, k, v, {.key_padding_mask = padding, .is_causal = true, .need_weights = true});
//   attention.forward(context, x, Mask::causal() & Mask::key_lengths(lengths));
#pragma once

#include "heed/ops/attention/spec/mask.h"
#include "heed/tensor/tensor.h"

namespace heed {

// The arguments of torch.nn.MultiheadAttention's forward, and `mask`, which is heed's own. What is given intersects;
// what is floating adds up. Booleans have PyTorch's polarity, the opposite of Mask's: true means that the key is left
// out. A query that may attend to no key gets the output of a zero vector, as in newer versions of PyTorch, and never
// NaN.
struct AttentionArguments {
  Mask mask{};
  // i32 [N + 1]: B is 1 and sequence n is [offsets[n], offsets[n + 1]) of L; self-attention with masks by position
  // alone, and without weights.
  Tensor offsets{};
  Tensor key_padding_mask{};         // [B, Lk]: boolean, or floating and added to the scores
  Tensor attn_mask{};                // [Lq, Lk] or [B * heads, Lq, Lk]: the same
  bool is_causal = false;            // query i sees keys 0 to i (Anchor::start), whatever attn_mask is
  bool need_weights = false;         // PyTorch's default is true
  bool average_attn_weights = true;  // weights [B, Lq, Lk], the mean over the heads; else [B, heads, Lq, Lk]
};

// The same for the operator.
struct CallMask {
  Mask mask{};
  Tensor bias{};  // [B|1, H|1, Lq|1, Lk + extra], f32, or f64 for f64; empty: none
};

// Joins the arguments with the layer's own mask over `shape`, where shape.keys are those that the caller gave; `extra`
// more keys follow them, which every query may attend to. Throws heed::Error for a mask of another shape or type.
CallMask call_mask(const AttentionArguments& arguments, const Mask& of_layer, const MaskShape& shape, Index extra,
                   DType dtype);

}  // namespace heed
