// Multi-head attention over what it has read before: one token of each row of a memory at a time, or some.
#include <algorithm>
#include <vector>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"
#include "heed/layers/multihead_attention.h"

namespace heed {
namespace {

void check_inference(const char* member, const Context& context) {
  HEED_CHECK(context.tape == nullptr,
             "MultiheadAttention::{}: a memory has no gradient, so the context must have no tape", member);
}

// `mask` over each row's own tokens, and none over the extra keys behind them.
Mask beside_extra_keys(const Mask& mask, const Tensor& lengths, Index heads, Index queries) {
  const std::int64_t* length = lengths.data<std::int64_t>();
  const Index rows = lengths.dim(0), longest = rows == 0 ? 0 : *std::max_element(length, length + rows);
  return Mask::predicate([lengths, of_tokens = MaskRows(mask, {rows, heads, queries, longest}, "MultiheadAttention")](
                             Index b, Index h, Index i, Index j) {
    return j >= lengths.at<std::int64_t>({b}) || of_tokens.allows(b, h, i, j);
  });
}

}  // namespace

std::unique_ptr<DecodingMemory> MultiheadAttention::make_memory(DType dtype, Precision cache) const {
  const MultiheadAttentionOptions& o = options_;
  // Sums stand for the tokens only where each is weighted by its features alone.
  const AttentionSpec spec = unmasked_spec(dtype);
  const bool features = spec.score.kind == Score::Kind::feature_map;
  if (is_linear() && features && spec.bias.is_empty() && own_mask_.is_open() && extra() == 0) {
    return std::make_unique<LinearMemory>(o.num_kv_heads, o.head_dim, dtype, spec.score);
  }
  return std::make_unique<PagedMemory>(o.num_kv_heads, o.head_dim, dtype, kept_as(cache, dtype));
}

Var MultiheadAttention::step(const Context& context, const Var& x, DecodingMemory& memory) const {
  check_inference("step", context);
  const MultiheadAttentionOptions& o = options_;
  const Index rows = memory.rows(), queries = query_width(), all = queries + 2 * key_width();
  const Var in = relaid(context, x);
  HEED_CHECK(o.kdim == o.embed_dim && o.vdim == o.embed_dim,
             "MultiheadAttention::step: self-attention needs kdim and vdim to be embed_dim");
  HEED_CHECK(in.rank() == 3 && in.dim(0) == rows && (in.dim(1) == 1 || memory.can_go_back()),
             "MultiheadAttention::step: needs {} of each of the memory's {} rows, but x is {}",
             memory.can_go_back() ? "tokens" : "one token", rows, describe(x.value().view()));
  const Index tokens = in.dim(1);
  const Tensor places = Tensor::empty(DType::i64, {rows, tokens}), lengths = Tensor::empty(DType::i64, {rows});
  for (Index row = 0; row < rows; ++row) {
    for (Index n = 0; n < tokens; ++n) places.at<std::int64_t>({row, n}) = memory.length(row) + n;
    lengths.at<std::int64_t>({row}) = memory.length(row) + tokens;
  }
  AttentionSpec spec = unmasked_spec(x.dtype());
  spec.mask = own_mask_;
  for (const auto& pattern : own_mask_.patterns) {
    HEED_CHECK(!pattern->has_rows(), "MultiheadAttention::step: the layer's mask goes by rows, which a step has not");
  }
  // The tokens are the last of those that their row has read, where all anchors are one.
  spec.mask.anchor = Anchor::length;
  if (tokens > 1) spec.mask = spec.mask & Mask::causal(Anchor::length);
  if (extra() > 0 && !spec.mask.is_open()) {
    const Mask of_tokens = spec.mask & Mask::key_lengths(lengths);
    spec.mask = beside_extra_keys(of_tokens, lengths, o.num_heads, tokens);
  }

  const Var qkv = project_self(context, in, places);  // [B, L, (H + 2 G) d]
  Var kv = qkv;
  if (extra() > 0) kv = with_extra_keys(context, Var(Tensor::copy_of(slice(qkv.value().view(), 2, queries, all))));
  const Index offset = extra() > 0 ? 0 : queries;
  const auto heads = [&](const Var& source, Index first, Index count) {
    return Heads{source, first, count, o.head_dim}.view_of(source.value());
  };
  const Tensor out = Tensor::empty(qkv.dtype(), {rows, tokens, queries});
  Tensor weights;
  memory.attend(heads(qkv, 0, o.num_heads), heads(kv, offset, o.num_kv_heads),
                heads(kv, offset + key_width(), o.num_kv_heads), spec, split_heads(out.view(), o.num_heads),
                is_observed(context) ? &weights : nullptr, context.workspace);
  if (!weights.is_empty()) {
    // Observers see the keys that their tokens stand for.
    for (Index row = 0; row < rows; ++row) {
      fill(slice(select(weights.view(), 0, row), 2, memory.length(row), weights.dim(3)), 0);
    }
    context.observer->on_weights({path_, kind_}, slice(weights.view(), 3, 0, weights.dim(3) - extra()));
  }
  return relaid(context, out_proj_.forward(context, Var(out)));
}

Var MultiheadAttention::admit(const Context& context, const Var& x, std::span<const Index> lengths,
                              DecodingMemory& memory) const {
  check_inference("admit", context);
  HEED_CHECK(options_.kdim == options_.embed_dim && options_.vdim == options_.embed_dim,
             "MultiheadAttention::admit: self-attention needs kdim and vdim to be embed_dim");
  const Var in = relaid(context, x);
  const Index queries = query_width(), all = queries + 2 * key_width();
  const Var qkv = project_self(context, in, {});
  const AttentionArguments causal{.mask = Mask::causal(own_mask_.anchor)};
  const Var kv = extra() == 0 ? qkv : with_extra_keys(context, slice(context, qkv, 2, queries, all));
  const Var y = attend(context, qkv, kv, extra() == 0 ? queries : 0, extra(), causal).out;
  const auto heads = [&](Index first) {
    return Heads{qkv, queries + first, options_.num_kv_heads, options_.head_dim}.view_of(qkv.value());
  };
  memory.admit(heads(0), heads(key_width()), lengths);
  return y;
}

PagedMemory MultiheadAttention::make_source_memory(DType dtype, Precision cache) const {
  return PagedMemory(options_.num_kv_heads, options_.head_dim, dtype, kept_as(cache, dtype));
}

void MultiheadAttention::keep_memory(const Context& context, const Var& memory, std::span<const Index> lengths,
                                     PagedMemory& kept) const {
  check_inference("keep_memory", context);
  HEED_CHECK(extra() == 0 && !own_mask_.has_positions(),
             "MultiheadAttention::keep_memory: not with extra keys or a mask that counts positions");
  const Var kv = project_memory(context, memory);
  const auto heads = [&](Index first) {
    return Heads{kv, first, options_.num_kv_heads, options_.head_dim}.view_of(kv.value());
  };
  kept.admit(heads(0), heads(key_width()), lengths);
}

Var MultiheadAttention::attend_kept(const Context& context, const Var& x, const PagedMemory& kept) const {
  check_inference("attend_kept", context);
  const Var q = placed(context, project_queries(context, relaid(context, x)), options_.num_heads, 0, {});
  const Tensor out = Tensor::empty(q.dtype(), {q.dim(0), q.dim(1), query_width()});
  AttentionSpec spec = unmasked_spec(x.dtype());
  spec.mask = own_mask_;
  Tensor weights;
  kept.attend(Heads{q, 0, options_.num_heads, options_.head_dim}.view_of(q.value()), spec,
              split_heads(out.view(), options_.num_heads), is_observed(context) ? &weights : nullptr,
              context.workspace);
  if (!weights.is_empty()) context.observer->on_weights({path_, kind_}, weights);
  return relaid(context, out_proj_.forward(context, Var(out)));
}

}  // namespace heed
