#include "heed/layers/feed_forward.h"

#include <array>

#include "heed/autograd/operators.h"

namespace heed {

FeedForward::FeedForward(const ParameterScope& scope, const FeedForwardOptions& options)
    : linear1_(scope / "linear1", options.width, options.ffn_width, options.bias), options_(options) {
  if (options.gated) linear_gate_ = Linear(scope / "linear_gate", options.width, options.ffn_width, options.bias);
  linear2_ = Linear(scope / "linear2", options.ffn_width, options.width, options.bias);
}

Var FeedForward::hidden(const Context& context, const Var& x) const {
  if (!options_.gated) return activate(context, options_.activation, linear1_.forward(context, x));
  const Var both = linear(context, x, std::array{linear1_.map(), linear_gate_.map()});
  return activate_gated(context, options_.activation, both);
}

Var FeedForward::forward(const Context& context, const Var& x) const {
  return linear2_.forward(context, dropout(context, hidden(context, x), options_.dropout));
}

}  // namespace heed
