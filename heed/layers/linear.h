// A learned affine map (torch.nn.Linear).
#pragma once

#include "heed/autograd/affine_vars.h"
#include "heed/autograd/context.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

class Linear {
 public:
  Linear() = default;
  // weight [outputs, inputs] Xavier uniform, as in torch.nn.Transformer; bias [outputs] uniform in +-1 / sqrt(inputs),
  // or none.
  Linear(const ParameterScope& scope, Index inputs, Index outputs, bool bias = true);
  // The same with other initial values of the bias.
  Linear(const ParameterScope& scope, Index inputs, Index outputs, const Initial& bias);

  // x [..., inputs] to [..., outputs].
  Var forward(const Context& context, const Var& x) const;

  const Var& weight() const { return weight_; }
  AffineVars map() const { return {weight_, bias_}; }

 private:
  Var weight_, bias_;
};

}  // namespace heed
