#include "heed/layers/embedding.h"

#include <cmath>

#include "heed/autograd/operators.h"
#include "heed/layers/initialise.h"

namespace heed {

Embedding::Embedding(Rng& rng, Index tokens, Index width, double scale)
    : weight_(normal_parameter(rng, tokens, width, 1 / std::sqrt(static_cast<double>(width)))), scale_(scale) {}

Var Embedding::forward(const Context& context, const Tensor& ids) const {
  return embedding(context, weight_, ids, scale_);
}

void Embedding::parameters(const std::string& path, ParameterList& list) const {
  add_parameter(list, path, "weight", weight_);
}

}  // namespace heed
