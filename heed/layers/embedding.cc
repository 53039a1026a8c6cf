#include "heed/layers/embedding.h"

#include <cmath>

#include "heed/autograd/operators.h"

namespace heed {

Embedding::Embedding(const ParameterScope& scope, Index tokens, Index width, double scale)
    : weight_(scope.weight("weight", tokens, width, Initial::normal(1 / std::sqrt(static_cast<double>(width))))),
      scale_(scale) {}

Var Embedding::forward(const Context& context, const Tensor& ids) const {
  return embedding(context, weight_, ids, scale_);
}

}  // namespace heed
