#include "heed/layers/multihead_attention.h"

#include <algorithm>
#include <utility>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"
#include "heed/layers/initialise.h"

namespace heed {

KeyValueCache::KeyValueCache(DType dtype, Index rows, Index length, Index width)
    : memory_(Tensor::empty(dtype, {rows, std::max<Index>(length, 1), 2 * width})) {}

View KeyValueCache::append(const ConstView& keys_and_values) {
  if (length_ == memory_.dim(1)) {
    const Tensor larger = Tensor::empty(memory_.dtype(), {memory_.dim(0), 2 * length_, memory_.dim(2)});
    copy(memory_, slice(larger.view(), 1, 0, length_));
    memory_ = larger;
  }
  copy(keys_and_values, slice(memory_.view(), 1, length_, length_ + 1));
  ++length_;
  return slice(memory_.view(), 1, 0, length_);
}

void KeyValueCache::select_rows(std::span<const Index> rows) {
  const Tensor selected = Tensor::empty(memory_.dtype(), {static_cast<Index>(rows.size()), memory_.dim(1), memory_.dim(2)});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    copy(slice(select(memory_.view(), 0, rows[r]), 0, 0, length_),
         slice(select(selected.view(), 0, static_cast<Index>(r)), 0, 0, length_));
  }
  memory_ = selected;
}

MultiheadAttention::MultiheadAttention(std::string path, AttentionKind kind, Rng& rng, Index width, Index heads, double dropout)
    : path_(std::move(path)), kind_(kind), width_(width), heads_(heads), dropout_(dropout) {
  HEED_CHECK(heads >= 1 && width % heads == 0, "MultiheadAttention: the width {} must be a multiple of the {} heads", width, heads);
  in_proj_weight_ = xavier_uniform(rng, 3 * width, width, width, width);
  in_proj_bias_ = constant_parameter({3 * width}, 0);
  out_proj_ = Linear(rng, width, width);
}

Var MultiheadAttention::forward(const Context& context, const Var& x, const LayerMask& mask) const {
  const Var qkv = linear(context, x, in_proj_weight_, in_proj_bias_);  // [B, L, 3 * width]
  const Index d = width_ / heads_;
  return attend(context, {qkv, 0, heads_, d}, {qkv, width_, heads_, d}, {qkv, 2 * width_, heads_, d}, mask);
}

Var MultiheadAttention::project_memory(const Context& context, const Var& memory) const {
  return linear(context, memory, in_proj_weight_.parameter_rows(width_, 3 * width_),
                in_proj_bias_.parameter_rows(width_, 3 * width_));
}

Var MultiheadAttention::attend_memory(const Context& context, const Var& x, const Var& projected, const LayerMask& mask) const {
  const Var q = linear(context, x, in_proj_weight_.parameter_rows(0, width_), in_proj_bias_.parameter_rows(0, width_));
  const Index d = width_ / heads_;
  return attend(context, {q, 0, heads_, d}, {projected, 0, heads_, d}, {projected, width_, heads_, d}, mask);
}

Var MultiheadAttention::step(const Context& context, const Var& x, KeyValueCache& cache) const {
  HEED_CHECK(context.tape == nullptr, "MultiheadAttention::step: a cache has no gradient, so the context must have no tape");
  const Var qkv = linear(context, x, in_proj_weight_, in_proj_bias_);  // [B, 1, 3 * width]
  const View all = cache.append(slice(qkv.value().view(), 2, width_, 3 * width_));
  const Var memory(Tensor::borrow(all));
  const Index d = width_ / heads_;
  return attend(context, {qkv, 0, heads_, d}, {memory, 0, heads_, d}, {memory, width_, heads_, d}, {});
}

Var MultiheadAttention::attend(const Context& context, const Heads& q, const Heads& k, const Heads& v,
                               const LayerMask& mask) const {
  const AttentionSite site{path_, kind_};
  Tensor weights;
  if (context.observer != nullptr && context.observer->wants(site)) {
    weights = Tensor::empty(q.source.dtype(), {q.source.dim(0), heads_, q.source.dim(1), k.source.dim(1)});
  }
  const AttentionSpec spec{.mask = mask.mask, .dropout = {.probability = dropout_}};
  const Var heads = attention(context, q, k, v, spec, {}, weights, mask.keep);
  if (!weights.is_empty()) context.observer->on_weights(site, weights);
  return out_proj_.forward(context, heads);
}

void MultiheadAttention::parameters(const std::string& path, ParameterList& list) const {
  add_parameter(list, path, "in_proj_weight", in_proj_weight_);
  add_parameter(list, path, "in_proj_bias", in_proj_bias_);
  out_proj_.parameters(join_path(path, "out_proj"), list);
}

}  // namespace heed
