// The position-wise feed-forward network (Vaswani et al. 2017, eq. 2).
#pragma once

#include "heed/layers/linear.h"
#include "heed/ops/activation.h"

namespace heed {

// linear2(dropout(activation(linear1 x))), whose parameters are "linear1.weight" and so on directly in the scope, as in
// torch.nn.TransformerEncoderLayer.
class FeedForward {
 public:
  FeedForward() = default;
  FeedForward(const ParameterScope& scope, Index width, Index hidden, Activation activation, double dropout);

  // x [..., width] to the same shape.
  Var forward(const Context& context, const Var& x) const;

 private:
  Linear linear1_, linear2_;
  Activation activation_ = Activation::relu;
  double dropout_ = 0;
};

}  // namespace heed
