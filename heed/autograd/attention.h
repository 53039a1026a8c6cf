// Attention on Vars.
#pragma once

#include <vector>

#include "heed/autograd/context.h"
#include "heed/autograd/var.h"
#include "heed/ops/attention/attention.h"

namespace heed {

// Heads inside a projected sequence: features [offset, offset + heads * width) of source [B, L, *], as [B, heads, L,
// width]. A packed projection of q, k and v is one source with three offsets; its gradient is then one tensor too.
struct Heads {
  Var source;
  Index offset = 0;
  Index heads = 1;
  Index width = 0;

  View view_of(const Tensor& tensor) const {
    return split_heads(slice(tensor.view(), 2, offset, offset + heads * width), heads);
  }
};

// Computes attention and returns [B, Lq, heads * Dv]: the heads side by side. spec.dropout.probability acts where the
// context has dropout, and its seed and stream are the context's. `learned` are the Vars whose values the spec has as
// tensors that may be learned (a score's vector, a dense bias, T5's table, sinks, a Gaussian's centre), in any order;
// they are known by their memory, and get their gradients. An empty Var is none. `weights`, where not empty, is filled
// with [B, H, Lq, Lk]. Throws heed::Error for a Var that is not in the spec.
Var attention(const Context& context, const Heads& q, const Heads& k, const Heads& v, AttentionSpec spec,
              const std::vector<Var>& learned = {}, View weights = {});

}  // namespace heed
