// A learned affine map (torch.nn.Linear).
#pragma once

#include <string>

#include "heed/autograd/context.h"
#include "heed/base/random.h"
#include "heed/layers/parameters.h"

namespace heed {

class Linear {
 public:
  Linear() = default;
  // weight [outputs, inputs] Xavier uniform, as in torch.nn.Transformer; bias [outputs] uniform in +-1 / sqrt(inputs),
  // or none.
  Linear(Rng& rng, Index inputs, Index outputs, bool bias = true);

  // x [..., inputs] to [..., outputs].
  Var forward(const Context& context, const Var& x) const;
  void parameters(const std::string& path, ParameterList& list) const;

  const Var& weight() const { return weight_; }
  const Var& bias() const { return bias_; }

 private:
  Var weight_, bias_;
};

}  // namespace heed
