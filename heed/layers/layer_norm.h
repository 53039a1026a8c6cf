// Layer normalisation with a learned gain and offset (torch.nn.LayerNorm; Ba et al. 2016).
#pragma once

#include "heed/autograd/context.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

class LayerNorm {
 public:
  LayerNorm() = default;
  // weight [width], 1 at first, and bias [width], 0.
  LayerNorm(const ParameterScope& scope, Index width, double epsilon = 1e-5);

  // x [..., width], each row on its own.
  Var forward(const Context& context, const Var& x) const;

 private:
  Var weight_, bias_;
  double epsilon_ = 1e-5;
};

}  // namespace heed
