// Multi-head attention (Vaswani et al. 2017, section 3.2.2), with the parameters of torch.nn.MultiheadAttention.
//
//   MultiheadAttention attention("encoder.layers.0.self_attn", AttentionKind::encoder, rng, 512, 8, 0.1);
//   Var y = attention.forward(context, x, {.mask = Mask::key_lengths(lengths), .keep = {lengths}});
#pragma once

#include <string>
#include <vector>

#include "heed/autograd/attention.h"
#include "heed/layers/linear.h"
#include "heed/observe/observer.h"

namespace heed {

// A mask, and the tensors behind its views, which must live until backward has run.
struct LayerMask {
  Mask mask;
  std::vector<Tensor> keep;
};

// Keys and values of the positions decoded so far.
class KeyValueCache {
 public:
  KeyValueCache() = default;
  // Room for `length` positions of `width` features for each of `rows` sentences; it grows when more come.
  KeyValueCache(DType dtype, Index rows, Index length, Index width);

  // Appends one position's keys and values [B, 1, 2 * width], and returns all so far [B, length, 2 * width] as a view.
  View append(const ConstView& keys_and_values);
  // Keeps, in this order, the given rows; one may come several times.
  void select_rows(std::span<const Index> rows);

 private:
  Tensor memory_;  // [B, capacity, 2 * width]
  Index length_ = 0;
};

class MultiheadAttention {
 public:
  MultiheadAttention() = default;
  // `path` names the layer to observers, as in the checkpoint. width % heads == 0; throws heed::Error.
  MultiheadAttention(std::string path, AttentionKind kind, Rng& rng, Index width, Index heads, double dropout);

  // Self-attention: x [B, L, width] to the same shape.
  Var forward(const Context& context, const Var& x, const LayerMask& mask) const;
  // The keys and values of a memory [B, S, width], side by side: [B, S, 2 * width].
  Var project_memory(const Context& context, const Var& memory) const;
  // Cross-attention of x [B, L, width] over what project_memory returned.
  Var attend_memory(const Context& context, const Var& x, const Var& projected, const LayerMask& mask) const;
  // Self-attention of one more position x [B, 1, width] over the cache and itself. Inference only.
  Var step(const Context& context, const Var& x, KeyValueCache& cache) const;

  void parameters(const std::string& path, ParameterList& list) const;

 private:
  Var attend(const Context& context, const Heads& q, const Heads& k, const Heads& v, const LayerMask& mask) const;

  std::string path_;
  AttentionKind kind_ = AttentionKind::encoder;
  Index width_ = 0, heads_ = 0;
  double dropout_ = 0;
  Var in_proj_weight_;  // [3 * width, width]: rows of the query, key and value projections
  Var in_proj_bias_;    // [3 * width]
  Linear out_proj_;
};

}  // namespace heed
