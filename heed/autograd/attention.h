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

// What the tape must know of an AttentionSpec beyond its views: the Vars whose gradients it computes (empty: none).
struct AttentionParameters {
  Var additive_vector{};  // becomes spec.score.additive_vector
  Var dense_bias{};       // becomes spec.bias.dense
  Var sinks{};            // becomes spec.normaliser.sinks
  Var centre{};           // becomes spec.bias.gaussian.centre
};

// Computes attention and returns [B, Lq, heads * Dv]: the heads side by side. spec.dropout.probability acts where the
// context has dropout, and its seed and stream are the context's. `weights`, where not empty, is filled with [B, H, Lq,
// Lk]. The tensors behind spec's views (key lengths, masks) must outlive the tape; pass them in `keep`.
Var attention(const Context& context, const Heads& q, const Heads& k, const Heads& v, AttentionSpec spec,
              const AttentionParameters& parameters, View weights, std::vector<Tensor> keep);

}  // namespace heed
