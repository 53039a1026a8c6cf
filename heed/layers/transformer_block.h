// One block of a Transformer: self-attention, cross-attention where there is a memory, and a feed-forward network, each
// with a residual connection and a norm.
//
//   TransformerBlock block(scope / "encoder.layers.0", AttentionKind::encoder, {.width = 256, .heads = 4});
//   Var y = block.forward(context, x, {.mask = Mask::key_lengths(lengths)});
//
// With layer norms before or after, parameters have the names of torch.nn.TransformerEncoderLayer, or, with
// cross-attention, of torch.nn.TransformerDecoderLayer.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "heed/layers/feed_forward.h"
#include "heed/layers/multihead_attention.h"
#include "heed/layers/norm.h"

namespace heed {

// Where a sub-layer f is normalised.
enum class NormPlace {
  pre,       // x + f(norm x)
  post,      // norm(x + f(x))             (Vaswani et al. 2017)
  both,      // x + post_norm(f(norm x))   (Gemma 2)
  residual,  // norm x + f(norm x)         (a BLOOM that says apply_residual_connection_post_layernorm)
  parallel,  // x + f(norm x) + g(norm' x), all sub-layers of a block beside each other   (GPT-J; Black et al. 2022)
};
inline constexpr std::pair<std::string_view, NormPlace> kNormPlaceNames[] = {{"pre", NormPlace::pre},
                                                                             {"post", NormPlace::post},
                                                                             {"both", NormPlace::both},
                                                                             {"residual", NormPlace::residual},
                                                                             {"parallel", NormPlace::parallel}};
inline std::span<const std::pair<std::string_view, NormPlace>> enum_names(NormPlace) { return kNormPlaceNames; }

struct TransformerBlockOptions {
  Index width = 512, heads = 8, ffn_width = 2048;
  Index kv_heads = 0;    // of every attention; 0: heads
  Index head_width = 0;  // of every attention; 0: width / heads
  // Of every attention, as in MultiheadAttentionOptions.
  bool attention_bias = true, attention_out_bias = true, separate_projections = false, query_key_norm = false;
  bool ffn_bias = true;
  Activation activation = Activation::relu;
  bool gated = false;  // the feed-forward network
  NormKind norm = NormKind::layer;
  double norm_epsilon = 1e-5;
  NormPlace norm_place = NormPlace::post;
  double dropout = 0.1;            // of each sub-layer's output
  double attention_dropout = 0.1;  // of the attention weights, where the choice forms weights
  double activation_dropout = 0;   // of the feed-forward network's hidden layer
  AttentionChoice self_attention{};
  bool cross = false;  // attends to a memory too
  AttentionChoice cross_attention{};
  Index max_positions = 4096;  // that rotary positions and random blocks are made for
};

class TransformerBlock {
 public:
  // `kind` is what the self-attention is to observers.
  TransformerBlock(const ParameterScope& scope, AttentionKind kind, const TransformerBlockOptions& options);

  // x [B, L, width] to the same shape; `self` says which keys a query may see. memory_projection is what project_memory
  // returned for the memory, empty in a block without cross-attention.
  Var forward(const Context& context, const Var& x, const AttentionArguments& self, const Var& memory_projection = {},
              const Mask& memory_mask = {}) const;
  Var project_memory(const Context& context, const Var& memory) const;

  // What decoding keeps: the tokens that each row has read, and, with cross-attention, the memory that it looks at.
  struct Memory {
    std::unique_ptr<DecodingMemory> tokens;
    std::optional<PagedMemory> source;

    void select_rows(std::span<const Index> rows);
  };
  // Without rows.
  Memory make_memory(DType dtype, Precision cache = Precision::f32) const;
  // Adds a row that has read nothing for each of the encoder's outputs [n, S, width], of which lengths[i] count.
  // Inference only, as are admit_tokens and step.
  void admit_source(const Context& context, const Var& encoded, std::span<const Index> lengths, Memory& memory) const;
  // In a block without cross-attention: adds a row that has read the first lengths[i] of x [n, L, width], and returns
  // what forward gives under a causal mask.
  Var admit_tokens(const Context& context, const Var& x, std::span<const Index> lengths, Memory& memory) const;
  // More tokens x [B, L, width] of each row: one, of a memory that cannot go back.
  Var step(const Context& context, const Var& x, Memory& memory) const;

 private:
  // A sub-layer's norms: the second only where both are wanted.
  struct Norms {
    Norm norm, post_norm;
  };
  Norms norms(const ParameterScope& scope, int number) const;
  template <typename SubLayer>
  // `sum`, which is what the sub-layers so far have made, with one more of them, that reads x.
  Var residual(const Context& context, const Var& x, const Var& sum, const Norms& norms, SubLayer sub_layer) const;
  template <typename SelfAttention, typename CrossAttention>
  Var forward_with(const Context& context, const Var& x, SelfAttention self_attention,
                   CrossAttention cross_attention) const;

  TransformerBlockOptions options_;
  MultiheadAttention self_attention_, cross_attention_;
  FeedForward feed_forward_;
  Norms self_norms_, cross_norms_, feed_forward_norms_;
};

}  // namespace heed
