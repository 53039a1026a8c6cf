#include "heed/layers/layer_norm.h"

#include "heed/autograd/operators.h"
#include "heed/layers/initialise.h"

namespace heed {

LayerNorm::LayerNorm(Index width, double epsilon)
    : weight_(constant_parameter({width}, 1)), bias_(constant_parameter({width}, 0)), epsilon_(epsilon) {}

Var LayerNorm::forward(const Context& context, const Var& x) const {
  return layer_norm(context, x, weight_, bias_, epsilon_);
}

void LayerNorm::parameters(const std::string& path, ParameterList& list) const {
  add_parameter(list, path, "weight", weight_);
  add_parameter(list, path, "bias", bias_);
}

}  // namespace heed
