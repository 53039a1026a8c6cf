#include "heed/layers/transformer_block.h"

#include <string>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"

namespace heed {
namespace {

MultiheadAttentionOptions attention_options(const TransformerBlockOptions& options, const AttentionChoice& choice) {
  return {.embed_dim = options.width,
          .num_heads = options.heads,
          .bias = options.attention_bias,
          .dropout = options.attention_dropout,
          .num_kv_heads = options.kv_heads,
          .head_dim = options.head_width,
          .out_bias = options.attention_out_bias,
          .separate = options.separate_projections,
          .query_key_norm = options.query_key_norm,
          .norm = options.norm,
          .norm_epsilon = options.norm_epsilon,
          .attention = choice,
          .max_positions = options.max_positions};
}

}  // namespace

TransformerBlock::TransformerBlock(const ParameterScope& scope, AttentionKind kind,
                                   const TransformerBlockOptions& options)
    : options_(options),
      self_attention_(scope / "self_attn", kind, attention_options(options, options.self_attention)) {
  if (options.cross) {
    cross_attention_ = MultiheadAttention(scope / "multihead_attn", AttentionKind::cross,
                                          attention_options(options, options.cross_attention));
  }
  feed_forward_ = FeedForward(scope, {.width = options.width,
                                      .ffn_width = options.ffn_width,
                                      .activation = options.activation,
                                      .gated = options.gated,
                                      .bias = options.ffn_bias,
                                      .dropout = options.activation_dropout});
  int number = 1;
  self_norms_ = norms(scope, number++);
  if (options.cross) cross_norms_ = norms(scope, number++);
  feed_forward_norms_ = norms(scope, number);
}

TransformerBlock::Norms TransformerBlock::norms(const ParameterScope& scope, int number) const {
  const std::string name = "norm" + std::to_string(number);
  const auto norm = [&](const std::string& path) {
    return Norm(scope / path, options_.norm, options_.width, options_.norm_epsilon);
  };
  Norms made{norm(name), {}};
  if (options_.norm_place == NormPlace::both) made.post_norm = norm("post_" + name);
  return made;
}

template <typename SubLayer>
Var TransformerBlock::residual(const Context& context, const Var& x, const Var& sum, const Norms& norms,
                               SubLayer sub_layer) const {
  switch (options_.norm_place) {
    case NormPlace::pre:
    case NormPlace::parallel:
      return dropout_add(context, sub_layer(norms.norm.forward(context, x)), options_.dropout, sum);
    case NormPlace::post:
      return norms.norm.forward(context, dropout_add(context, sub_layer(x), options_.dropout, x));
    case NormPlace::residual: {
      const Var normed = norms.norm.forward(context, x);
      return dropout_add(context, sub_layer(normed), options_.dropout, normed);
    }
    case NormPlace::both: {
      const Var y = sub_layer(norms.norm.forward(context, x));
      return dropout_add(context, norms.post_norm.forward(context, y), options_.dropout, x);
    }
  }
  fail("TransformerBlock: norm_place {} is none", static_cast<int>(options_.norm_place));
}

template <typename SelfAttention, typename CrossAttention>
Var TransformerBlock::forward_with(const Context& context, const Var& x, SelfAttention self_attention,
                                   CrossAttention cross_attention) const {
  const auto read = [&](const Var& sum) { return options_.norm_place == NormPlace::parallel ? x : sum; };
  Var y = residual(context, x, x, self_norms_, self_attention);
  if (options_.cross) y = residual(context, read(y), y, cross_norms_, cross_attention);
  return residual(context, read(y), y, feed_forward_norms_,
                  [&](const Var& in) { return feed_forward_.forward(context, in); });
}

Var TransformerBlock::forward(const Context& context, const Var& x, const AttentionArguments& self,
                              const Var& memory_projection, const Mask& memory_mask) const {
  return forward_with(
      context, x, [&](const Var& in) { return self_attention_.forward(context, in, in, in, self).out; },
      [&](const Var& in) { return cross_attention_.attend_memory(context, in, memory_projection, memory_mask); });
}

Var TransformerBlock::project_memory(const Context& context, const Var& memory) const {
  return cross_attention_.project_memory(context, memory);
}

// --- Decoding --------------------------------------------------------------------------------------------------------

void TransformerBlock::Memory::select_rows(std::span<const Index> rows) {
  tokens->select_rows(rows);
  if (source) source->select_rows(rows);
}

TransformerBlock::Memory TransformerBlock::make_memory(DType dtype, Precision cache) const {
  Memory memory{self_attention_.make_memory(dtype, cache), {}};
  if (options_.cross) memory.source = cross_attention_.make_source_memory(dtype, cache);
  return memory;
}

void TransformerBlock::admit_source(const Context& context, const Var& encoded, std::span<const Index> lengths,
                                    Memory& memory) const {
  cross_attention_.keep_memory(context, encoded, lengths, *memory.source);
  memory.tokens->admit(std::ssize(lengths));
}

Var TransformerBlock::admit_tokens(const Context& context, const Var& x, std::span<const Index> lengths,
                                   Memory& memory) const {
  HEED_CHECK(!options_.cross, "TransformerBlock::admit_tokens: a block with cross-attention admits sources");
  return forward_with(
      context, x, [&](const Var& in) { return self_attention_.admit(context, in, lengths, *memory.tokens); },
      [](const Var& in) { return in; });
}

Var TransformerBlock::step(const Context& context, const Var& x, Memory& memory) const {
  return forward_with(
      context, x, [&](const Var& in) { return self_attention_.step(context, in, *memory.tokens); },
      [&](const Var& in) { return cross_attention_.attend_kept(context, in, *memory.source); });
}

}  // namespace heed
