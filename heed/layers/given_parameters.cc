#include "heed/layers/given_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "heed/base/check.h"

namespace heed {

GivenParameters::GivenParameters(const ParameterList& parameters, std::string name) : name_(std::move(name)) {
  for (const auto& [parameter, var] : parameters) given_.emplace(parameter, var);
}

Var GivenParameters::value(const ParameterShape& wanted, const Initial&) {
  const auto found = given_.find(wanted.name);
  HEED_CHECK(found != given_.end(), "{}: has no parameter {}", name_, wanted.name);
  const Var& var = found->second;
  View view = var.value().view();
  if (var.blocks() != BlockType::none) view.shape[1] = Weight(var).inputs();  // of numbers, not of bytes
  HEED_CHECK(std::ranges::equal(std::span(view.shape).first(static_cast<std::size_t>(view.rank)), wanted.shape),
             "{}: {} is {}, but the model needs [{}]", name_, wanted.name, describe(view),
             fmt::join(wanted.shape, ", "));
  return var;
}

Tensor widened(const Var& weight) {
  if (!is_narrow(weight.dtype())) return weight.value().clone();
  const Tensor wide = Tensor::empty(DType::f32, {weight.dim(0), Weight(weight).inputs()});
  widen_rows(weight, 0, weight.dim(0), wide.data<float>());
  return wide;
}

ParameterList trainable(const ParameterList& parameters) {
  ParameterList copies;
  for (const auto& [name, var] : parameters) copies.push_back({name, Var::parameter(widened(var))});
  return copies;
}

}  // namespace heed
