// Where a token stands: sinusoidal or learned positions, added to its embedding.
#pragma once

#include "heed/autograd/context.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

// The table of Vaswani et al. 2017, section 3.5: [length, width], PE(p, 2i) = sin(p / 10000^(2i / width)), PE(p, 2i +
// 1) = cos(same).
Tensor sinusoidal_positions(Index length, Index width);

// Where each token of sequences that lie end to end stands in its own: i32 [1, total] for offsets i32 [N + 1], the last
// of which is `total`.
Tensor positions_within(const Tensor& offsets);

// A default-constructed one adds nothing.
class Positions {
 public:
  Positions() = default;
  static Positions sinusoidal(const ParameterScope& scope, Index length, Index width);
  // weight [length, width], normal with deviation 0.02.
  static Positions learned(const ParameterScope& scope, Index length, Index width);

  // x [B, L, width] plus the positions first, first + 1, ... Throws heed::Error past the table's length.
  Var forward(const Context& context, const Var& x, Index first = 0) const;
  // x [B, L, width] plus the positions [B, L] (i32).
  Var forward_at(const Context& context, const Var& x, const Tensor& positions) const;

 private:
  // The table in the type of x: a gradient check runs in f64, and a constant table follows.
  Var table_like(const Var& x) const;

  Var table_;
};

}  // namespace heed
