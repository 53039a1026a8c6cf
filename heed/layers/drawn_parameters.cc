#include "heed/layers/drawn_parameters.h"

#include "heed/io/file_tensor.h"

namespace heed {

Var DrawnParameters::value(const ParameterShape& wanted, const Initial& initial) {
  const Tensor tensor = tensor_of_shape(DType::f32, wanted.shape);
  initialise(tensor, initial, rng_);
  return Var::parameter(tensor);
}

}  // namespace heed
