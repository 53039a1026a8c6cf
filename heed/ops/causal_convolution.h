// The short causal convolution of each channel by its own filter, which gated linear attention and state-space models
// put before their recurrences (Gu and Dao 2023, "Mamba", figure 3), with the few inputs that the next token needs.
//
//   causal_convolution({.x = x, .weight = w, .bias = b}, y, state);          // state [B, C, K - 1]
//   // the next token, L = 1, from the state and to it
//   causal_convolution({.x = x1, .weight = w, .bias = b, .state = state}, y1, state);
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// The operands: contiguous, all f32 or all f64. K >= 1 is the filter's width.
struct CausalConvolution {
  ConstView x{};       // [B, C, L]
  ConstView weight{};  // [C, K]; the last one meets the newest input
  ConstView bias{};    // [C], or empty for zeros
  ConstView state{};   // the K - 1 inputs before the first, [B, C, K - 1]; empty: zeros
};

// y[b, c, l] = bias[c] + sum_j weight[c, j] past[b, c, l + j], past being the state and x one after the other; ONNX
// CausalConvWithState-27 without its activation. y [B, C, L] and last_state [B, C, K - 1], the end of `past`, are
// overwritten; an empty one is not wanted. last_state may be the state's memory, y must not be x's. O(K) an element. A
// sequence's bits depend neither on the batch nor on later inputs nor on the thread count, and cutting it in two calls
// changes none. Throws heed::Error for operands that do not fit.
void causal_convolution(const CausalConvolution& c, View y, View last_state);

// Contiguous, in the shapes of the operands; an empty view is not wanted.
struct CausalConvolutionGrad {
  View dx{}, dstate{};      // overwritten
  View dweight{}, dbias{};  // accumulated
};

// The gradients from dy [B, C, L] and dlast_state [B, C, K - 1], that of last_state (empty: zeros). The same bits for
// any thread count. Throws as the forward call does.
void causal_convolution_backward(const CausalConvolution& c, ConstView dy, ConstView dlast_state,
                                 const CausalConvolutionGrad& grad);

}  // namespace heed
