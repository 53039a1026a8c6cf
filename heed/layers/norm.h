// Normalisation over the last axis: torch.nn.LayerNorm, or root-mean-square normalisation.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/autograd/context.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

enum class NormKind {
  layer,  // gamma (x - mean) / sqrt(variance + eps) + beta      (Ba, Kiros and Hinton 2016)
  rms,    // gamma x / sqrt(mean of x^2 + eps)                   (Zhang and Sennrich 2019)
};
inline constexpr std::pair<std::string_view, NormKind> kNormKindNames[] = {{"layer", NormKind::layer},
                                                                           {"rms", NormKind::rms}};
inline std::span<const std::pair<std::string_view, NormKind>> enum_names(NormKind) { return kNormKindNames; }

class Norm {
 public:
  Norm() = default;
  // weight [width] of ones and, for layer, bias [width] of zeros.
  Norm(const ParameterScope& scope, NormKind kind, Index width, double epsilon = 1e-5);

  // x [..., width] to the same shape.
  Var forward(const Context& context, const Var& x) const;

 private:
  Var weight_, bias_;
  NormKind kind_ = NormKind::layer;
  double epsilon_ = 1e-5;
};

}  // namespace heed
