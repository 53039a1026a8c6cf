#include "heed/layers/initialise.h"

#include <cmath>

namespace heed {

Var uniform_parameter(Rng& rng, std::initializer_list<Index> shape, double bound) {
  const Tensor value = Tensor::empty(DType::f32, shape);
  for (Index i = 0; i < value.size(); ++i) value.data<float>()[i] = static_cast<float>((2 * rng.uniform() - 1) * bound);
  return Var::parameter(value);
}

Var xavier_uniform(Rng& rng, Index outputs, Index inputs) {
  return uniform_parameter(rng, {outputs, inputs}, std::sqrt(6.0 / static_cast<double>(outputs + inputs)));
}

Var normal_parameter(Rng& rng, Index rows, Index columns, double deviation) {
  const Tensor value = Tensor::empty(DType::f32, {rows, columns});
  for (Index i = 0; i < value.size(); ++i) value.data<float>()[i] = static_cast<float>(rng.normal() * deviation);
  return Var::parameter(value);
}

Var constant_parameter(std::initializer_list<Index> shape, double value) {
  const Tensor tensor = Tensor::empty(DType::f32, shape);
  fill(tensor, value);
  return Var::parameter(tensor);
}

}  // namespace heed
