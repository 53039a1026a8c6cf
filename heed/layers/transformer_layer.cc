#include "heed/layers/transformer_layer.h"

#include "heed/autograd/operators.h"

namespace heed {
namespace {

// A sub-layer with its residual connection and its normalisation, before or after.
template <typename SubLayer>
Var residual(const Context& context, const Var& x, const LayerNorm& norm, bool norm_first, double dropout,
             SubLayer sub_layer) {
  if (norm_first) return dropout_add(context, sub_layer(norm.forward(context, x)), dropout, x);
  return norm.forward(context, dropout_add(context, sub_layer(x), dropout, x));
}

MultiheadAttentionOptions cross_attention(const TransformerLayerOptions& options) {
  return {.embed_dim = options.width,
          .num_heads = options.heads,
          .dropout = options.attention_dropout,
          .num_kv_heads = options.key_value_heads};
}

MultiheadAttentionOptions self_attention(const TransformerLayerOptions& options) {
  MultiheadAttentionOptions self = cross_attention(options);
  self.mask = options.self_mask;
  self.linear = options.linear;
  if (options.linear) self.dropout = 0;
  return self;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const ParameterScope& scope, const TransformerLayerOptions& options)
    : norm_first_(options.norm_first),
      dropout_(options.dropout),
      self_attention_(scope / "self_attn", AttentionKind::encoder, self_attention(options)),
      feed_forward_(scope, options.width, options.hidden, options.activation, options.activation_dropout),
      norm1_(scope / "norm1", options.width),
      norm2_(scope / "norm2", options.width) {}

Var TransformerEncoderLayer::forward(const Context& context, const Var& x, const Mask& mask) const {
  const Var attended = residual(context, x, norm1_, norm_first_, dropout_,
                                [&](const Var& in) { return self_attention_.forward(context, in, mask); });
  return residual(context, attended, norm2_, norm_first_, dropout_,
                  [&](const Var& in) { return feed_forward_.forward(context, in); });
}

TransformerDecoderLayer::TransformerDecoderLayer(const ParameterScope& scope, const TransformerLayerOptions& options)
    : norm_first_(options.norm_first),
      dropout_(options.dropout),
      self_attention_(scope / "self_attn", AttentionKind::decoder, self_attention(options)),
      cross_attention_(scope / "multihead_attn", AttentionKind::cross, cross_attention(options)),
      feed_forward_(scope, options.width, options.hidden, options.activation, options.activation_dropout),
      norm1_(scope / "norm1", options.width),
      norm2_(scope / "norm2", options.width),
      norm3_(scope / "norm3", options.width) {}

template <typename SelfAttention, typename CrossAttention>
Var TransformerDecoderLayer::forward_with(const Context& context, const Var& x, SelfAttention self_attention,
                                          CrossAttention cross_attention) const {
  const Var attended = residual(context, x, norm1_, norm_first_, dropout_, self_attention);
  const Var crossed = residual(context, attended, norm2_, norm_first_, dropout_, cross_attention);
  return residual(context, crossed, norm3_, norm_first_, dropout_,
                  [&](const Var& in) { return feed_forward_.forward(context, in); });
}

Var TransformerDecoderLayer::forward(const Context& context, const Var& x, const Mask& mask,
                                     const Var& memory_projection, const Mask& memory_mask) const {
  return forward_with(
      context, x, [&](const Var& in) { return self_attention_.forward(context, in, mask); },
      [&](const Var& in) { return cross_attention_.attend_memory(context, in, memory_projection, memory_mask); });
}

Var TransformerDecoderLayer::project_memory(const Context& context, const Var& memory) const {
  return cross_attention_.project_memory(context, memory);
}

void TransformerDecoderLayer::admit(const Context& context, const Var& encoded, std::span<const Index> lengths,
                                    Memory& memory) const {
  cross_attention_.keep_memory(context, encoded, lengths, memory.source);
  memory.tokens->admit(std::ssize(lengths));
}

Var TransformerDecoderLayer::step(const Context& context, const Var& x, Memory& memory) const {
  return forward_with(
      context, x, [&](const Var& in) { return self_attention_.step(context, in, *memory.tokens); },
      [&](const Var& in) { return cross_attention_.attend_kept(context, in, memory.source); });
}

}  // namespace heed
