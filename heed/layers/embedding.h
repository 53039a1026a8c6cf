// A learned vector for each token (torch.nn.Embedding), scaled as Vaswani et al. 2017, section 3.4, do.
#pragma once

#include "heed/autograd/context.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

class Embedding {
 public:
  Embedding() = default;
  // weight [tokens, width], normal with deviation 1 / sqrt(width); rows are multiplied by `scale` when they are looked
  // up.
  Embedding(const ParameterScope& scope, Index tokens, Index width, double scale);

  // ids i32 [...] to [..., width].
  Var forward(const Context& context, const Tensor& ids) const;
  // The table, which an output projection may share (tied embeddings; Press and Wolf 2017).
  const Var& weight() const { return weight_; }

 private:
  Var weight_;
  double scale_ = 1;
};

}  // namespace heed
