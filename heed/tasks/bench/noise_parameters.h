// Parameters of no meaning, made fast: for benchmarks of large models.
#pragma once

#include "heed/layers/parameter_scope.h"

namespace heed {

// Small random numbers, the same ones again and again; weights in `type`, with scales where it is i8. What is drawn as
// a constant is that.
class NoiseParameters final : public ParameterSource {
 public:
  explicit NoiseParameters(DType type) : type_(type) {}

 private:
  Var value(const ParameterShape& wanted, const Initial& initial) override;

  DType type_;
};

}  // namespace heed
