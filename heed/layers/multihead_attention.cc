#include "heed/layers/multihead_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "heed/autograd/operators.h"
#include "heed/autograd/rotary.h"
#include "heed/base/check.h"
#include "heed/layers/positions.h"
#include "heed/layers/shown_scores.h"
#include "heed/ops/attention/spec/visit_spec.h"
#include "heed/tensor/numbers.h"

namespace heed {
namespace {

MultiheadAttentionOptions checked(MultiheadAttentionOptions o) {
  HEED_CHECK(
      o.embed_dim >= 1 && o.num_heads >= 1 && o.kdim >= 0 && o.vdim >= 0 && o.num_kv_heads >= 0 && o.head_dim >= 0,
      "MultiheadAttention: embed_dim and num_heads must be at least 1, and kdim, vdim, num_kv_heads and head_dim "
      "not negative, but they are {}, {}, {}, {}, {}, {}",
      o.embed_dim, o.num_heads, o.kdim, o.vdim, o.num_kv_heads, o.head_dim);
  HEED_CHECK(o.head_dim > 0 || o.embed_dim % o.num_heads == 0,
             "MultiheadAttention: embed_dim {} must be a multiple of num_heads {} where head_dim is not given",
             o.embed_dim, o.num_heads);
  if (o.kdim == 0) o.kdim = o.embed_dim;
  if (o.vdim == 0) o.vdim = o.embed_dim;
  if (o.head_dim == 0) o.head_dim = o.embed_dim / o.num_heads;
  if (o.num_kv_heads == 0) o.num_kv_heads = o.num_heads;
  HEED_CHECK(o.num_heads % o.num_kv_heads == 0,
             "MultiheadAttention: num_heads {} must be a multiple of num_kv_heads {}", o.num_heads, o.num_kv_heads);
  HEED_CHECK(o.dropout >= 0 && o.dropout < 1, "MultiheadAttention: dropout must be at least 0 and below 1, but is {}",
             o.dropout);
  return o;
}

// [B, H, Lq, Lk] as [B, Lq, Lk].
template <typename T>
Tensor mean_over_heads(const Tensor& weights) {
  const Index heads = weights.dim(1), size = weights.dim(2) * weights.dim(3);
  const Tensor mean = Tensor::zeros(weights.dtype(), {weights.dim(0), weights.dim(2), weights.dim(3)});
  const T* from = weights.data<T>();
  for (Index b = 0; b < weights.dim(0); ++b) {
    T* to = mean.data<T>() + b * size;
    for (Index h = 0; h < heads; ++h, from += size)
      for (Index i = 0; i < size; ++i) to[i] += from[i] / static_cast<T>(heads);
  }
  return mean;
}

// One more than the last of the positions [B|1, L].
Index positions_reach(const Tensor& positions) {
  Index reach = 0;
  for (Index b = 0; b < positions.dim(0); ++b)
    for (Index i = 0; i < positions.dim(1); ++i) reach = std::max(reach, integer_at(positions.view(), {b, i}) + 1);
  return reach;
}

}  // namespace

MultiheadAttention::MultiheadAttention(const ParameterScope& scope, AttentionKind kind,
                                       const MultiheadAttentionOptions& options)
    : path_(scope.path()), kind_(kind), options_(checked(options)) {
  const MultiheadAttentionOptions& o = options_;
  const auto projection = [&](std::string_view name, Index outputs, Index inputs) {
    return scope.weight(name, outputs, inputs, Initial::xavier(outputs, inputs));
  };
  const Index all = query_width() + 2 * key_width();
  if (o.kdim == o.embed_dim && o.vdim == o.embed_dim && !o.separate) {
    // The fan is that of the whole matrix, as in PyTorch: with the larger values that each part would have by itself,
    // post-norm models hardly learn.
    in_proj_weight_ = projection("in_proj_weight", all, o.embed_dim);
  } else {
    q_proj_weight_ = projection("q_proj_weight", query_width(), o.embed_dim);
    k_proj_weight_ = projection("k_proj_weight", key_width(), o.kdim);
    v_proj_weight_ = projection("v_proj_weight", key_width(), o.vdim);
  }
  const Initial zero = Initial::constant(0);
  if (o.bias) in_proj_bias_ = scope.vector("in_proj_bias", all, zero);
  if (o.add_bias_kv) {
    // Xavier normal, as in PyTorch.
    const Initial row = Initial::normal(1 / std::sqrt(static_cast<double>(key_width())));
    bias_k_ = scope.tensor("bias_k", {1, 1, key_width()}, row);
    bias_v_ = scope.tensor("bias_v", {1, 1, key_width()}, row);
  }
  made_ = o.attention.make({scope, o.num_heads, o.head_dim, o.max_positions, kind == AttentionKind::decoder});
  own_mask_ = made_.spec.mask & o.mask;
  if (made_.rotary) {
    HEED_CHECK(made_.rotary->width <= o.head_dim, "MultiheadAttention: rotary turns {} features of heads of width {}",
               made_.rotary->width, o.head_dim);
    static_cast<void>(rotary_frequencies(*made_.rotary));  // refuses what has no meaning, before it is needed
    angles_ = scope.computed([&] { return shared_angles(*made_.rotary); });
  }
  if (o.query_key_norm) {
    q_norm_ = Norm(scope / "q_norm", o.norm, o.head_dim, o.norm_epsilon);
    k_norm_ = Norm(scope / "k_norm", o.norm, o.head_dim, o.norm_epsilon);
  }
  // As in PyTorch, the bias is zero but takes the draws of a Linear's: those after it stay what they are.
  out_proj_ = o.bias && o.out_bias ? Linear(scope / "out_proj", query_width(), o.embed_dim, Initial::uniform(0))
                                   : Linear(scope / "out_proj", query_width(), o.embed_dim, /*bias=*/false);
}

// --- Projections -----------------------------------------------------------------------------------------------------

AffineVars MultiheadAttention::projection(const Context& context, const Var& separate, Index begin, Index end) const {
  const auto rows = [&](const Var& all) {
    return all.empty() || all.dim(0) == end - begin ? all : all.parameter_rows(begin, end, context.tape);
  };
  return {packed() ? rows(in_proj_weight_) : separate, rows(in_proj_bias_)};
}

Var MultiheadAttention::project_queries(const Context& context, const Var& query) const {
  const auto [weight, bias] = projection(context, q_proj_weight_, 0, query_width());
  return linear(context, query, weight, bias);
}

Var MultiheadAttention::project_keys_and_values(const Context& context, const Var& key, const Var& value) const {
  const Index keys = query_width(), values = keys + key_width(), end = values + key_width();
  if (packed() && key == value) return linear(context, key, std::array{projection(context, {}, keys, end)});
  const AffineVars k = projection(context, k_proj_weight_, keys, values);
  const AffineVars v = projection(context, v_proj_weight_, values, end);
  if (key == value) return linear(context, key, std::array{k, v});
  const std::array both{linear(context, key, k.weight, k.bias), linear(context, value, v.weight, v.bias)};
  return concatenate(context, both);
}

Var MultiheadAttention::with_extra_keys(const Context& context, const Var& keys_and_values) const {
  Var all = keys_and_values;
  if (options_.add_bias_kv) {
    const std::array<Var, 2> row{bias_k_, bias_v_};
    all = append_row(context, all, concatenate(context, row));
  }
  return options_.add_zero_attn ? append_row(context, all, {}) : all;
}

Var MultiheadAttention::placed(const Context& context, const Var& projection, Index queries, Index keys,
                               const Tensor& positions) const {
  Var x = projection;
  if (options_.query_key_norm) {
    const Index d = options_.head_dim, width = x.dim(2);
    const auto heads = [&](const Norm& norm, Index begin, Index count) {
      const Var part = slice(context, projection, 2, begin * d, (begin + count) * d);
      const Var by_head = reshape(context, part, {part.dim(0), part.dim(1), count, d});
      return reshape(context, norm.forward(context, by_head), {part.dim(0), part.dim(1), count * d});
    };
    std::vector<Var> parts;
    if (queries > 0) parts.push_back(heads(q_norm_, 0, queries));
    if (keys > 0) parts.push_back(heads(k_norm_, queries, keys));
    if ((queries + keys) * d < width) parts.push_back(slice(context, projection, 2, (queries + keys) * d, width));
    x = concatenate(context, parts);
  }
  if (!made_.rotary) return x;
  const Index reach = positions.is_empty() ? x.dim(1) : positions_reach(positions);
  HEED_CHECK(reach <= options_.max_positions,
             "MultiheadAttention: position {} is outside the {} positions that {} was made for", reach - 1,
             options_.max_positions, path_);
  return rotary(context, {x, 0, queries + keys, options_.head_dim}, *angles_->of_first(reach), positions, 0,
                made_.rotary->pairing);
}

Var MultiheadAttention::project_self(const Context& context, const Var& x, const Tensor& positions) const {
  const Index keys = query_width(), values = keys + key_width(), end = values + key_width();
  const auto part = [&](const Var& separate, Index from, Index to) { return projection(context, separate, from, to); };
  std::vector<AffineVars> maps;
  if (packed()) {
    maps = {part({}, 0, end)};
  } else {
    maps = {part(q_proj_weight_, 0, keys), part(k_proj_weight_, keys, values), part(v_proj_weight_, values, end)};
  }
  return placed(context, linear(context, x, maps), options_.num_heads, options_.num_kv_heads, positions);
}

Var MultiheadAttention::relaid(const Context& context, const Var& x) const {
  return options_.batch_first ? x : swap_leading(context, x);
}

// --- Attention -------------------------------------------------------------------------------------------------------

Attended MultiheadAttention::forward(const Context& context, const Var& query, const Var& key, const Var& value,
                                     const AttentionArguments& arguments) const {
  const MultiheadAttentionOptions& o = options_;
  const auto fits = [&](const Var& x, Index width) {
    return x.rank() == 3 && x.dim(2) == width && x.dim(o.batch_first ? 0 : 1) == query.dim(o.batch_first ? 0 : 1);
  };
  HEED_CHECK(fits(query, o.embed_dim) && fits(key, o.kdim) && fits(value, o.vdim) &&
                 key.dim(o.batch_first ? 1 : 0) == value.dim(o.batch_first ? 1 : 0),
             "MultiheadAttention: needs query, key and value {} of E = {}, {}, {}, but they are {}, {}, {}",
             o.batch_first ? "[B, L, E]" : "[L, B, E]", o.embed_dim, o.kdim, o.vdim, describe(query.value().view()),
             describe(key.value().view()), describe(value.value().view()));
  const Var q = relaid(context, query), k = key == query ? q : relaid(context, key);
  const Var v = value == key ? k : relaid(context, value);
  const Tensor positions = arguments.offsets.is_empty() ? Tensor() : positions_within(arguments.offsets);
  if (q == k && k == v && extra() == 0) {
    const Var qkv = project_self(context, q, positions);
    return attend(context, qkv, qkv, query_width(), 0, arguments);
  }
  HEED_CHECK(arguments.offsets.is_empty(),
             "MultiheadAttention: sequences end to end are for self-attention without extra keys");
  const Var queries = placed(context, project_queries(context, q), o.num_heads, 0, {});
  const Var keys_and_values = placed(context, project_keys_and_values(context, k, v), 0, o.num_kv_heads, {});
  return attend(context, queries, with_extra_keys(context, keys_and_values), 0, extra(), arguments);
}

Var MultiheadAttention::forward(const Context& context, const Var& x, const Mask& mask) const {
  return forward(context, x, x, x, {.mask = mask}).out;
}

Var MultiheadAttention::project_memory(const Context& context, const Var& memory) const {
  HEED_CHECK(!made_.rotary, "MultiheadAttention::project_memory: rotary positions would need those of the queries");
  HEED_CHECK(memory.rank() == 3 && memory.dim(2) == options_.kdim && memory.dim(2) == options_.vdim,
             "MultiheadAttention::project_memory: needs a memory of kdim = {} and vdim = {} features, but it is {}",
             options_.kdim, options_.vdim, describe(memory.value().view()));
  const Var batch_first = relaid(context, memory);
  const Var projected = project_keys_and_values(context, batch_first, batch_first);
  return with_extra_keys(context, placed(context, projected, 0, options_.num_kv_heads, {}));
}

Var MultiheadAttention::attend_memory(const Context& context, const Var& x, const Var& projected,
                                      const Mask& mask) const {
  const Var q = placed(context, project_queries(context, relaid(context, x)), options_.num_heads, 0, {});
  return attend(context, q, projected, 0, extra(), {.mask = mask}).out;
}

AttentionSpec MultiheadAttention::unmasked_spec(DType dtype) const {
  AttentionSpec spec = made_.spec;
  spec.mask = {};
  for (const LayerAttention::Learned& learned : made_.learned) learned.place(spec) = learned.var.value();
  // A gradient check runs in f64, and constants follow.
  if (dtype == DType::f64) {
    visit_views(spec, [&](const char*, Tensor& tensor, PackedAxis) {
      if (!tensor.is_empty() && tensor.dtype() == DType::f32) tensor = tensor.to(dtype);
    });
  }
  return spec;
}

bool MultiheadAttention::is_observed(const Context& context) const {
  return context.observer != nullptr && context.observer->wants({path_, kind_});
}

Attended MultiheadAttention::attend(const Context& context, const Var& q, const Var& keys_and_values, Index offset,
                                    Index extra, const AttentionArguments& arguments) const {
  const MultiheadAttentionOptions& o = options_;
  const Heads queries{q, 0, o.num_heads, o.head_dim};
  const Heads keys{keys_and_values, offset, o.num_kv_heads, o.head_dim};
  const Heads values{keys_and_values, offset + key_width(), o.num_kv_heads, o.head_dim};
  const MaskShape shape{q.dim(0), o.num_heads, q.dim(1), keys_and_values.dim(1) - extra};
  const bool observed = is_observed(context);
  Tensor weights;
  if (observed || arguments.need_weights) {
    weights = Tensor::empty(q.dtype(), {shape.batch, shape.heads, shape.queries, shape.keys + extra});
  }
  HEED_CHECK(arguments.offsets.is_empty() || weights.is_empty(),
             "MultiheadAttention: sequences end to end have no weights to look at: run them one by one");
  const CallMask mask = call_mask(arguments, own_mask_, shape, extra, q.dtype());
  AttentionSpec spec = unmasked_spec(q.dtype());
  spec.bias.dense = mask.bias, spec.mask = mask.mask;
  spec.sequences.query_offsets = spec.sequences.key_offsets = arguments.offsets;
  spec.dropout.probability = is_linear() ? 0 : o.dropout;
  std::vector<Var> learned;
  for (const LayerAttention::Learned& one : made_.learned) learned.push_back(one.var);
  const Var heads = attention(context, queries, keys, values, spec, learned, weights);
  if (extra == 0) {
    show_scores(context.observer, {path_, kind_}, queries.view_of(q.value()), keys.view_of(keys_and_values.value()),
                spec);
  }
  // Observers see the keys that their tokens stand for.
  if (observed) context.observer->on_weights({path_, kind_}, slice(weights.view(), 3, 0, shape.keys));
  Attended attended{relaid(context, out_proj_.forward(context, heads)), {}};
  if (!arguments.need_weights) return attended;
  attended.weights = weights;
  if (arguments.average_attn_weights) {
    attended.weights = q.dtype() == DType::f64 ? mean_over_heads<double>(weights) : mean_over_heads<float>(weights);
  }
  return attended;
}

}  // namespace heed
