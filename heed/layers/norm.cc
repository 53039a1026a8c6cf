#include "heed/layers/norm.h"

#include "heed/autograd/operators.h"

namespace heed {

Norm::Norm(const ParameterScope& scope, NormKind kind, Index width, double epsilon)
    : weight_(scope.vector("weight", width, Initial::constant(1))), kind_(kind), epsilon_(epsilon) {
  if (kind == NormKind::layer) bias_ = scope.vector("bias", width, Initial::constant(0));
}

Var Norm::forward(const Context& context, const Var& x) const {
  return kind_ == NormKind::layer ? layer_norm(context, x, weight_, bias_, epsilon_)
                                  : rms_norm(context, x, weight_, epsilon_);
}

}  // namespace heed
