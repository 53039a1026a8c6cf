#include "heed/layers/linear.h"

#include <cmath>

#include "heed/autograd/operators.h"

namespace heed {

Linear::Linear(const ParameterScope& scope, Index inputs, Index outputs, bool bias)
    : weight_(scope.weight("weight", outputs, inputs, Initial::xavier(outputs, inputs))) {
  if (bias) bias_ = scope.vector("bias", outputs, Initial::uniform(1 / std::sqrt(static_cast<double>(inputs))));
}

Linear::Linear(const ParameterScope& scope, Index inputs, Index outputs, const Initial& bias)
    : Linear(scope, inputs, outputs, false) {
  bias_ = scope.vector("bias", outputs, bias);
}

Var Linear::forward(const Context& context, const Var& x) const { return linear(context, x, weight_, bias_); }

}  // namespace heed
