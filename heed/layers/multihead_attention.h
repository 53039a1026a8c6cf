// Multi-head attention (Vaswani et al. 2017, section 3.2.2) with the meaning and the parameters of
// torch.nn.MultiheadAttention, and grouped key/value heads, heads of any width, and every score, bias, mask
// and normaliser (heed/layers/attention_choice.h) as further options.
//
//   MultiheadAttention attention(scope / "self_attn", AttentionKind::encoder,
//                                {.embed_dim = 512, .num_heads = 8, .dropout = 0.1, .num_kv_heads = 2});
//   Var y = attention.forward(context, x, Mask::key_lengths(lengths));                // self
//   Attended z = attention.forward(context, x, memory, memory, {.key_padding_mask = padding, .need_weights = true});
#pragma once

#include <memory>
#include <span>
#include <string>

#include "heed/autograd/affine_vars.h"
#include "heed/autograd/attention.h"
#include "heed/layers/attention_arguments.h"
#include "heed/layers/attention_choice.h"
#include "heed/layers/decoding_memory.h"
#include "heed/layers/linear.h"
#include "heed/layers/norm.h"
#include "heed/layers/shared_angles.h"
#include "heed/observe/observer.h"
#include "heed/tensor/precision.h"

namespace heed {

struct MultiheadAttentionOptions {
  // PyTorch's.
  Index embed_dim = 512, num_heads = 8;
  Index kdim = 0, vdim = 0;    // features of keys and of values; 0: embed_dim
  bool bias = true;            // of the projections
  bool add_bias_kv = false;    // one more key and value, learned, behind those given
  bool add_zero_attn = false;  // one more key and value of zeros, behind that one
  bool batch_first = true;     // inputs and outputs are [B, L, E]; else [L, B, E] (PyTorch's default)
  double dropout = 0;          // of the attention weights

  // heed's own.
  Index num_kv_heads = 0;       // 0: num_heads; 1: multi-query (Shazeer 2019); else grouped (Ainslie et al. 2023)
  Index head_dim = 0;           // 0: embed_dim / num_heads; embed_dim: heads of full width
  bool out_bias = true;         // of the output projection, where `bias` gives the others one
  bool separate = false;        // q_proj_weight, k_proj_weight and v_proj_weight, whatever kdim and vdim are
  bool query_key_norm = false;  // a norm of each query and key of a head, before they are turned (Qwen 3, Phi)
  NormKind norm = NormKind::rms;
  double norm_epsilon = 1e-6;
  AttentionChoice attention{};  // score, positions, biases, masks, normaliser: AttentionChoice("cosine + window(8)")
  Index max_positions = 4096;   // that rotary has angles and bigbird random blocks for
  Mask mask{};                  // a mask of one's own, which the choice's and every call's intersect with
};

// What a call returns. Weights are those before dropout, with columns for the extra keys (first the learned one, then
// the zero one) behind those given; they have no gradient. Empty where they were not asked for.
struct Attended {
  Var out;
  Tensor weights;
};

// With H heads over G key/value heads of width d:
//
//   in_proj_weight   [(H + 2 G) d, embed_dim]: rows of queries, keys and values, where kdim = vdim = embed_dim and they
//                    are not asked for separately; else
//   q_proj_weight    [H d, embed_dim]
//   k_proj_weight    [G d, kdim]
//   v_proj_weight    [G d, vdim]
//   in_proj_bias     [(H + 2 G) d]
//   bias_k, bias_v   [1, 1, G d]
//   q_norm.weight, k_norm.weight   [d]; of NormKind::layer also q_norm.bias, k_norm.bias
//   sinks            [H], relative_bias [buckets, H], additive_vector [d]: what the choice's terms learn
//   out_proj.weight  [embed_dim, H d], out_proj.bias [embed_dim]
class MultiheadAttention {
 public:
  MultiheadAttention() = default;
  // The scope's path names the layer to observers. Linear attention, whose weights are a sum's shares and never formed,
  // has no dropout. Throws heed::Error for options that make no sense: widths and heads that do not divide, rotary
  // positions of more features than a head has.
  MultiheadAttention(const ParameterScope& scope, AttentionKind kind, const MultiheadAttentionOptions& options);

  // Attention of query [B, Lq, embed_dim] over key [B, Lk, kdim] and value [B, Lk, vdim]: out [B, Lq, embed_dim].
  // Keys and values may be of anything: other words, patches of a picture, passages that a search found.
  Attended forward(const Context& context, const Var& query, const Var& key, const Var& value,
                   const AttentionArguments& arguments = {}) const;
  // Self-attention: x [B, L, embed_dim] to the same shape.
  Var forward(const Context& context, const Var& x, const Mask& mask) const;

  // Cross-attention over one memory many times: its keys and values side by side, [B, S, 2 * key_width()], for
  // attend_memory alone. Not with rotary positions, nor where kdim differs from vdim.
  Var project_memory(const Context& context, const Var& memory) const;
  // forward(x, memory, memory) with what project_memory returned for the memory.
  Var attend_memory(const Context& context, const Var& x, const Var& projected, const Mask& mask) const;

  // The same memory, of inputs [n, S, embed_dim] of lengths of their own, kept for attend_kept. Not with extra keys.
  void keep_memory(const Context& context, const Var& memory, std::span<const Index> lengths, PagedMemory& kept) const;
  Var attend_kept(const Context& context, const Var& x, const PagedMemory& kept) const;

  // Decoding: self-attention of more tokens x [B, L, embed_dim] of each of the memory's rows over all that it has
  // read: the last rows of what forward gives under a causal mask, for linear attention but for the order of its sums.
  // One token, of a memory that cannot go back.
  // Inference only. Throws heed::Error where the layer's mask has patterns that go by rows (a predicate, tiles,
  // segments), which a token alone does not have.
  Var step(const Context& context, const Var& x, DecodingMemory& memory) const;
  // Self-attention of x [n, L, embed_dim] under a causal mask, of which the first lengths[i] tokens enter the memory as
  // row i of n more: those of a prompt. Inference only.
  Var admit(const Context& context, const Var& x, std::span<const Index> lengths, DecodingMemory& memory) const;
  // A memory without rows, for numbers that are computed in this type: sums of that type where attention is linear over
  // every token so far, else pages of keys and values in the cache's.
  std::unique_ptr<DecodingMemory> make_memory(DType dtype, Precision cache = Precision::f32) const;
  PagedMemory make_source_memory(DType dtype, Precision cache = Precision::f32) const;

  const MultiheadAttentionOptions& options() const { return options_; }
  // Features of all projected keys, and of all projected values.
  Index key_width() const { return options_.num_kv_heads * options_.head_dim; }

 private:
  // Features of all projected queries.
  Index query_width() const { return options_.num_heads * options_.head_dim; }
  bool packed() const { return !q_proj_weight_; }
  // Keys behind those given.
  Index extra() const { return Index{options_.add_bias_kv} + Index{options_.add_zero_attn}; }
  // Rows of in_proj_weight, or the separate weight, with those rows of in_proj_bias.
  AffineVars projection(const Context& context, const Var& separate, Index begin, Index end) const;
  Var project_queries(const Context& context, const Var& query) const;
  Var project_keys_and_values(const Context& context, const Var& key, const Var& value) const;
  Var with_extra_keys(const Context& context, const Var& keys_and_values) const;
  // Normalises and turns the first heads of a projection, `queries` of queries and then `keys` of keys, by the
  // positions, [B|1, L]; empty: 0, 1, ...
  Var placed(const Context& context, const Var& projection, Index queries, Index keys, const Tensor& positions) const;
  // Queries, keys and values of x side by side, [B, L, (H + 2 G) d], placed.
  Var project_self(const Context& context, const Var& x, const Tensor& positions) const;
  // x between the layout of the caller and [B, L, E].
  Var relaid(const Context& context, const Var& x) const;

  // What the choice makes of a call on numbers of this type, but for masks.
  AttentionSpec unmasked_spec(DType dtype) const;
  bool is_linear() const { return made_.spec.normaliser.kind == Normaliser::Kind::sum; }
  bool is_observed(const Context& context) const;
  // q over keys and values that lie side by side from `offset` in their source, in the caller's layout.
  Attended attend(const Context& context, const Var& q, const Var& keys_and_values, Index offset, Index extra,
                  const AttentionArguments& arguments) const;

  std::string path_;
  AttentionKind kind_ = AttentionKind::encoder;
  MultiheadAttentionOptions options_;  // without zeros for defaults
  LayerAttention made_;                // of the choice
  Mask own_mask_;                      // the choice's and the options'
  std::shared_ptr<SharedAngles> angles_;
  Var in_proj_weight_;
  Var q_proj_weight_, k_proj_weight_, v_proj_weight_;
  Var in_proj_bias_;
  Var bias_k_, bias_v_;
  Norm q_norm_, k_norm_;
  Linear out_proj_;
};

}  // namespace heed
