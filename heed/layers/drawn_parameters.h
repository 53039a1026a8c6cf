// New parameters, drawn at random: how a model is made that is to be trained.
//
//   DrawnParameters drawn{Rng(seed)};
//   Transformer model(drawn, config);
//   Adam adam({}, drawn.list());
#pragma once

#include "heed/layers/parameter_scope.h"

namespace heed {

// Every value is a pure function of the generator's state and of what was asked for before: parameters are drawn in the
// order in which they are bound, and each in the order of its elements.
class DrawnParameters final : public ParameterSource {
 public:
  explicit DrawnParameters(const Rng& rng) : rng_(rng) {}

 private:
  Var value(const ParameterShape& wanted, const Initial& initial) override;

  Rng rng_;
};

}  // namespace heed
