// The position-wise feed-forward network, plain (Vaswani et al. 2017, eq. 2) or gated (Shazeer 2020).
#pragma once

#include "heed/layers/linear.h"
#include "heed/ops/activation.h"

namespace heed {

struct FeedForwardOptions {
  Index width = 512, ffn_width = 2048;
  Activation activation = Activation::relu;
  bool gated = false;  // with silu SwiGLU, with gelu GeGLU, with relu ReGLU
  bool bias = true;    // of the linear maps
  double dropout = 0;  // of the hidden layer
};

// linear2(dropout(h)), where h is activation(linear1 x), or activation(linear_gate x) * linear1 x where it is gated;
// the names are PyTorch's.
class FeedForward {
 public:
  FeedForward() = default;
  FeedForward(const ParameterScope& scope, const FeedForwardOptions& options);

  // x [..., width] to the same shape.
  Var forward(const Context& context, const Var& x) const;

 private:
  Var hidden(const Context& context, const Var& x) const;

  Linear linear1_, linear_gate_, linear2_;
  FeedForwardOptions options_;
};

}  // namespace heed
