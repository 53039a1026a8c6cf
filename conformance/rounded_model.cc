#include "rounded_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "heed/base/check.h"
#include "heed/layers/given_parameters.h"
#include "heed/layers/listed_parameters.h"

namespace heed::conformance {
namespace {

std::vector<ParameterShape> shapes_of(const PretrainedModel& opened) {
  ListedParameters listed;
  const Transformer named(listed, opened.model->config());
  return listed.shapes();
}

PretrainedModel made_of(const PretrainedModel& opened, ParameterList parameters) {
  GivenParameters given(parameters, "the model");
  auto model = std::make_unique<Transformer>(given, opened.model->config());
  return {opened.family, std::move(model), std::move(parameters)};
}

float nearest_bf16(float x) {
  constexpr int kBits = 8;  // of the mantissa, with the leading one
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(x), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(mantissa, kBits)), exponent - kBits));
}

// Of rows, each by the 127th of its largest, in f32.
void round_to_steps(const Tensor& matrix) {
  for (Index row = 0; row < matrix.dim(0); ++row) {
    float* const numbers = matrix.data<float>() + row * matrix.dim(1);
    float largest = 0;
    for (Index i = 0; i < matrix.dim(1); ++i) largest = std::max(largest, std::abs(numbers[i]));
    const float step = largest / 127;
    for (Index i = 0; step > 0 && i < matrix.dim(1); ++i) {
      const double steps = std::nearbyint(static_cast<double>(numbers[i]) / static_cast<double>(step));
      numbers[i] = static_cast<float>(steps) * step;
    }
  }
}

}  // namespace

PretrainedModel with_weights(const PretrainedModel& opened, Precision type) {
  return made_of(opened, heed::with_weights(opened.parameters, shapes_of(opened), type, "the model"));
}

PretrainedModel plainly_rounded(const PretrainedModel& opened, Precision type) {
  HEED_CHECK(type == Precision::bf16 || type == Precision::int8, "plainly_rounded: rounds to bf16 and int8 alone");
  const DType dtype = type == Precision::bf16 ? DType::bf16 : DType::i8;
  const std::vector<ParameterShape> shapes = shapes_of(opened);
  ParameterList parameters = opened.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Var& weight = parameters[i].var;
    if (!shapes[i].is_weight) continue;
    const bool is_rounded = weight.dtype() == dtype && weight.blocks() == BlockType::none;
    const Tensor wide = widened(weight);
    if (!is_rounded && type == Precision::bf16) {
      std::transform(wide.data<float>(), wide.data<float>() + wide.size(), wide.data<float>(), nearest_bf16);
    } else if (!is_rounded) {
      round_to_steps(wide);
    }
    weight = Var::parameter(wide);
  }
  return made_of(opened, std::move(parameters));
}

}  // namespace heed::conformance
