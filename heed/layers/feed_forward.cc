#include "heed/layers/feed_forward.h"

#include "heed/autograd/operators.h"

namespace heed {

FeedForward::FeedForward(Rng& rng, Index width, Index hidden, Activation activation, double dropout)
    : linear1_(rng, width, hidden), linear2_(rng, hidden, width), activation_(activation), dropout_(dropout) {}

Var FeedForward::forward(const Context& context, const Var& x) const {
  const Var hidden = activate(context, activation_, linear1_.forward(context, x));
  return linear2_.forward(context, dropout(context, hidden, dropout_));
}

void FeedForward::parameters(const std::string& path, ParameterList& list) const {
  linear1_.parameters(join_path(path, "linear1"), list);
  linear2_.parameters(join_path(path, "linear2"), list);
}

}  // namespace heed
