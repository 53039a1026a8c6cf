#include "heed/layers/feed_forward.h"

#include "heed/autograd/operators.h"

namespace heed {

FeedForward::FeedForward(const ParameterScope& scope, Index width, Index hidden, Activation activation, double dropout)
    : linear1_(scope / "linear1", width, hidden),
      linear2_(scope / "linear2", hidden, width),
      activation_(activation),
      dropout_(dropout) {}

Var FeedForward::forward(const Context& context, const Var& x) const {
  const Var hidden = activate(context, activation_, linear1_.forward(context, x));
  return linear2_.forward(context, dropout(context, hidden, dropout_));
}

}  // namespace heed
