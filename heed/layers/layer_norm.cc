#include "heed/layers/layer_norm.h"

#include "heed/autograd/operators.h"

namespace heed {

LayerNorm::LayerNorm(const ParameterScope& scope, Index width, double epsilon)
    : weight_(scope.vector("weight", width, Initial::constant(1))),
      bias_(scope.vector("bias", width, Initial::constant(0))),
      epsilon_(epsilon) {}

Var LayerNorm::forward(const Context& context, const Var& x) const {
  return layer_norm(context, x, weight_, bias_, epsilon_);
}

}  // namespace heed
