// Where a token stands: sinusoidal or learned positions, added to its embedding.
#pragma once

#include "heed/autograd/context.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

// The table of Vaswani et al. 2017, section 3.5: [length, width], PE(p, 2i) = sin(p / 10000^(2i / width)), PE(p, 2i +
// 1) = cos(same).
Tensor sinusoidal_positions(Index length, Index width);

class Positions {
 public:
  Positions() = default;
  static Positions sinusoidal(const ParameterScope& scope, Index length, Index width);
  // weight [length, width], normal with deviation 0.02.
  static Positions learned(const ParameterScope& scope, Index length, Index width);

  // x [B, L, width] plus the positions first, first + 1, ... Throws heed::Error past the table's length.
  Var forward(const Context& context, const Var& x, Index first = 0) const;

 private:
  Var table_;
};

}  // namespace heed
