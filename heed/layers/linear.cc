#include "heed/layers/linear.h"

#include <cmath>

#include "heed/autograd/operators.h"
#include "heed/layers/initialise.h"

namespace heed {

Linear::Linear(Rng& rng, Index inputs, Index outputs, bool bias) : weight_(xavier_uniform(rng, outputs, inputs)) {
  if (bias) bias_ = uniform_parameter(rng, {outputs}, 1 / std::sqrt(static_cast<double>(inputs)));
}

Var Linear::forward(const Context& context, const Var& x) const { return linear(context, x, weight_, bias_); }

void Linear::parameters(const std::string& path, ParameterList& list) const {
  add_parameter(list, path, "weight", weight_);
  add_parameter(list, path, "bias", bias_);
}

}  // namespace heed
