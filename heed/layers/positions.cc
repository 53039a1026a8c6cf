#include "heed/layers/positions.h"

#include <cmath>

#include "heed/autograd/operators.h"

namespace heed {

Tensor sinusoidal_positions(Index length, Index width) {
  const Tensor table = Tensor::empty(DType::f32, {length, width});
  for (Index i = 0; i < width; ++i) {
    const double rate = std::pow(10000.0, -static_cast<double>(i - i % 2) / static_cast<double>(width));
    for (Index p = 0; p < length; ++p) {
      const double angle = static_cast<double>(p) * rate;
      table.at<float>({p, i}) = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

Tensor positions_within(const Tensor& offsets) {
  const Index total = offsets.at<std::int32_t>({offsets.size() - 1});
  const Tensor positions = Tensor::empty(DType::i32, {1, total});
  for (Index n = 0; n + 1 < offsets.size(); ++n) {
    const std::int32_t begin = offsets.at<std::int32_t>({n}), end = offsets.at<std::int32_t>({n + 1});
    for (std::int32_t t = begin; t < end; ++t) positions.at<std::int32_t>({0, t}) = t - begin;
  }
  return positions;
}

Positions Positions::sinusoidal(const ParameterScope& scope, Index length, Index width) {
  Positions positions;
  positions.table_ = Var(scope.computed([&] { return sinusoidal_positions(length, width); }));
  return positions;
}

Positions Positions::learned(const ParameterScope& scope, Index length, Index width) {
  Positions positions;
  positions.table_ = scope.matrix("weight", length, width, Initial::normal(0.02));
  return positions;
}

Var Positions::table_like(const Var& x) const {
  return table_.dtype() == x.dtype() ? table_ : Var(table_.value().to(x.dtype()));
}

Var Positions::forward(const Context& context, const Var& x, Index first) const {
  return table_ ? add_positions(context, x, table_like(x), first) : x;
}

Var Positions::forward_at(const Context& context, const Var& x, const Tensor& positions) const {
  return table_ ? add(context, x, embedding(context, table_like(x), positions, 1)) : x;
}

}  // namespace heed
