#include "heed/layers/positions.h"

#include <cmath>

#include "heed/autograd/operators.h"

namespace heed {

Tensor sinusoidal_positions(Index length, Index width) {
  const Tensor table = Tensor::empty(DType::f32, {length, width});
  for (Index i = 0; i < width; ++i) {
    const double rate = std::pow(10000.0, -static_cast<double>(i / 2 * 2) / static_cast<double>(width));
    for (Index p = 0; p < length; ++p) {
      const double angle = static_cast<double>(p) * rate;
      table.at<float>({p, i}) = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
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
  return add_positions(context, x, table_like(x), first);
}

Var Positions::forward_at(const Context& context, const Var& x, const Tensor& positions) const {
  const Tensor one_each = positions.reshape({positions.size(), 1});
  return add(context, x, embedding(context, table_like(x), one_each, 1));
}

}  // namespace heed
