// The position-wise feed-forward network (Vaswani et al. 2017, eq. 2).
#pragma once

#include <string>

#include "heed/layers/linear.h"
#include "heed/ops/activation.h"

namespace heed {

// linear2(dropout(activation(linear1 x))), with PyTorch's parameter names.
class FeedForward {
 public:
  FeedForward() = default;
  FeedForward(Rng& rng, Index width, Index hidden, Activation activation, double dropout);

  // x [..., width] to the same shape.
  Var forward(const Context& context, const Var& x) const;
  // "linear1.weight" and so on directly under path, as in torch.nn.TransformerEncoderLayer.
  void parameters(const std::string& path, ParameterList& list) const;

 private:
  Linear linear1_, linear2_;
  Activation activation_ = Activation::relu;
  double dropout_ = 0;
};

}  // namespace heed
