#include "heed/tasks/bench/noise_parameters.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/random.h"
#include "heed/io/file_tensor.h"
#include "heed/tensor/quantise_rows.h"

namespace heed {
namespace {

constexpr Index kPeriod = 65521;  // a prime: no two rows of a usual width are equal

const Tensor& noise() {
  static const Tensor numbers = [] {
    const Tensor drawn = Tensor::empty(DType::f32, {1, kPeriod});
    Rng rng(1);
    initialise(drawn, Initial::uniform(1), rng);
    return drawn;
  }();
  return numbers;
}

// `from`, again and again, over all elements of `to`.
template <typename T>
void repeat(const T* from, T* to, Index size) {
  for (Index at = 0; at < size; at += kPeriod) std::copy_n(from, std::min(kPeriod, size - at), to + at);
}

}  // namespace

Var NoiseParameters::value(const ParameterShape& wanted, const Initial& initial) {
  const Tensor made = tensor_of_shape(wanted.is_weight ? type_ : DType::f32, wanted.shape);
  if (!wanted.is_weight) {
    Rng rng(1);
    initialise(made, initial, rng);
    return Var::parameter(made);
  }
  // So that a layer's output is about as large as its input.
  const float bound = static_cast<float>(std::sqrt(3.0 / static_cast<double>(wanted.shape[1])));
  if (type_ == DType::i8) {
    const Tensor small = Tensor::empty(DType::i8, {1, kPeriod}), scale = Tensor::empty(DType::f32, {1});
    quantise_rows(noise(), small, scale);
    repeat(small.data<std::int8_t>(), made.data<std::int8_t>(), made.size());
    const Tensor scales = Tensor::empty(DType::f32, {wanted.shape[0]});
    std::fill_n(scales.data<float>(), scales.size(), bound * scale.data<float>()[0]);
    return Var::narrow(made, scales);
  }
  const Tensor scaled = noise().clone();
  for (Index i = 0; i < kPeriod; ++i) scaled.data<float>()[i] *= bound;
  if (type_ == DType::f32) {
    repeat(scaled.data<float>(), made.data<float>(), made.size());
    return Var::parameter(made);
  }
  const Tensor narrow = scaled.to(type_);
  repeat(narrow.data<std::uint16_t>(), made.data<std::uint16_t>(), made.size());
  return Var::narrow(made);
}

}  // namespace heed
