#include "heed/layers/feed_forward.h"

#include "heed/autograd/operators.h"

namespace heed {

FeedForward::FeedForward(const ParameterScope& scope, const FeedForwardOptions& options)
    : linear1_(scope / "linear1", options.width, options.ffn_width, options.bias), options_(options) {
  if (options.gated) linear_gate_ = Linear(scope / "linear_gate", options.width, options.ffn_width, options.bias);
  linear2_ = Linear(scope / "linear2", options.ffn_width, options.width, options.bias);
}

Var FeedForward::forward(const Context& context, const Var& x) const {
  const Var up = linear1_.forward(context, x);
  const Var hidden =
      options_.gated ? multiply(context, activate(context, options_.activation, linear_gate_.forward(context, x)), up)
                     : activate(context, options_.activation, up);
  return linear2_.forward(context, dropout(context, hidden, options_.dropout));
}

}  // namespace heed
