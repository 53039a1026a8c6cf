// One layer of a Transformer's encoder and of its decoder, with the parameter names of torch.nn.TransformerEncoderLayer
// and torch.nn.TransformerDecoderLayer.
#pragma once

#include <memory>
#include <span>

#include "heed/layers/feed_forward.h"
#include "heed/layers/layer_norm.h"
#include "heed/layers/multihead_attention.h"

namespace heed {

struct TransformerLayerOptions {
  Index width = 512, heads = 8, hidden = 2048;
  Activation activation = Activation::relu;
  bool norm_first = false;         // pre-norm: x + f(norm x); otherwise norm(x + f(x)), as Vaswani et al. 2017
  double dropout = 0.1;            // of each sub-layer's output
  double attention_dropout = 0.1;  // of the attention weights
  double activation_dropout = 0;   // of the feed-forward network's hidden layer
  Index key_value_heads = 0;       // of every attention; 0: heads
  // Self-attention alone: which keys it may see at all, and whether it is linear (see MultiheadAttentionOptions), and
  // so without dropout of its weights. Cross-attention is softmax over every key.
  Mask self_mask{};
  bool linear = false;
};

// Self-attention, then feed-forward.
class TransformerEncoderLayer {
 public:
  TransformerEncoderLayer(const ParameterScope& scope, const TransformerLayerOptions& options);

  // x [B, L, width] to the same shape; `mask` says which keys a query may see.
  Var forward(const Context& context, const Var& x, const Mask& mask) const;

 private:
  bool norm_first_;
  double dropout_;
  MultiheadAttention self_attention_;
  FeedForward feed_forward_;
  LayerNorm norm1_, norm2_;
};

// Self-attention, cross-attention over the encoder's output, then feed-forward.
class TransformerDecoderLayer {
 public:
  TransformerDecoderLayer(const ParameterScope& scope, const TransformerLayerOptions& options);

  // x [B, L, width]; memory_projection is what project_memory returned for the encoder's output.
  Var forward(const Context& context, const Var& x, const Mask& mask, const Var& memory_projection,
              const Mask& memory_mask) const;
  Var project_memory(const Context& context, const Var& memory) const;

  // What decoding keeps: the tokens that each row has read, and the encoder's output that it looks at.
  struct Memory {
    std::unique_ptr<DecodingMemory> tokens;
    PagedMemory source;

    void select_rows(std::span<const Index> rows) { tokens->select_rows(rows), source.select_rows(rows); }
  };
  Memory make_memory(DType dtype) const {
    return {self_attention_.make_memory(dtype), cross_attention_.make_source_memory(dtype)};
  }
  // Adds a row that has read nothing for each of the encoder's outputs [n, S, width], of which lengths[i] count.
  // Inference only, as step.
  void admit(const Context& context, const Var& encoded, std::span<const Index> lengths, Memory& memory) const;
  // One more token x [B, 1, width] of each row.
  Var step(const Context& context, const Var& x, Memory& memory) const;

 private:
  template <typename SelfAttention, typename CrossAttention>
  Var forward_with(const Context& context, const Var& x, SelfAttention self_attention,
                   CrossAttention cross_attention) const;

  bool norm_first_;
  double dropout_;
  MultiheadAttention self_attention_, cross_attention_;
  FeedForward feed_forward_;
  LayerNorm norm1_, norm2_, norm3_;
};

}  // namespace heed
