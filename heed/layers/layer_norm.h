// Layer normalisation with a learned gain and offset (torch.nn.LayerNorm; Ba et al. 2016).
#pragma once

#include <string>

#include "heed/autograd/context.h"
#include "heed/layers/parameters.h"

namespace heed {

class LayerNorm {
 public:
  LayerNorm() = default;
  explicit LayerNorm(Index width, double epsilon = 1e-5);

  // x [..., width], each row on its own.
  Var forward(const Context& context, const Var& x) const;
  void parameters(const std::string& path, ParameterList& list) const;

 private:
  Var weight_, bias_;
  double epsilon_ = 1e-5;
};

}  // namespace heed
