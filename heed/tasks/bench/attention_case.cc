#include "heed/tasks/bench/attention_case.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/tasks/bench/machine_limits.h"
#include "heed/tensor/quantise_rows.h"

namespace heed {
namespace {

constexpr double kBackwardShare = 2.5;  // five products for the forward pass's two

Tensor normal_tensor(DType dtype, std::initializer_list<Index> shape, std::uint64_t seed) {
  constexpr Index kBlock = 4096;  // numbers of one stream
  const Tensor tensor = Tensor::empty(DType::f32, shape);
  parallel_for(tensor.size(), kBlock, [&](Index begin, Index end) {
    Rng rng(seed, static_cast<std::uint64_t>(begin / kBlock));
    for (Index i = begin; i < end; ++i) tensor.data<float>()[i] = static_cast<float>(rng.normal());
  });
  return dtype == DType::f32 ? tensor : tensor.to(dtype);
}

// Rows as i8; `scales` becomes theirs.
void quantise(Tensor& rows, Tensor& scales) {
  const Tensor values = Tensor::empty(DType::i8, {rows.dim(0), rows.dim(1), rows.dim(2), rows.dim(3)});
  scales = Tensor::empty(DType::f32, {rows.dim(0), rows.dim(1), rows.dim(2)});
  quantise_rows(rows, values, scales);
  rows = values;
}

// Whether each query sees the keys up to its own and nothing else is asked of the mask.
bool is_causal(const Mask& mask) {
  if (!mask.window || mask.lengths || !mask.patterns.empty() || !mask.further.empty()) return false;
  const Window& window = *mask.window;
  return !window.left && window.right == 0 && !window.centre && !window.prefix;
}

}  // namespace

AttentionCase::AttentionCase(const AttentionShape& shape, AttentionSpec spec, BenchPass pass, Index key_copies)
    : shape_(shape), spec_(std::move(spec)), pass_(pass) {
  const auto [batch, heads, queries, keys, width, given_key_heads, dtype, int8_cache] = shape_;
  const Index key_heads = given_key_heads == 0 ? heads : given_key_heads;
  q_ = normal_tensor(dtype, {batch, heads, queries, width}, 1);
  Cache first{normal_tensor(dtype, {batch, key_heads, keys, width}, 2),
              normal_tensor(dtype, {batch, key_heads, keys, width}, 3),
              {}};
  if (int8_cache) quantise(first.k, first.scales.k), quantise(first.v, first.scales.v);
  caches_.push_back(first);
  for (Index copy = 1; copy < key_copies; ++copy) {
    const auto clone = [](const Tensor& tensor) { return tensor.is_empty() ? Tensor() : tensor.clone(); };
    caches_.push_back({clone(first.k), clone(first.v), {clone(first.scales.k), clone(first.scales.v)}});
  }
  spec_.scales = first.scales;
  out_ = Tensor::zeros_like(q_);
  if (pass_ == BenchPass::forward) return;
  row_stat_ = Tensor::zeros(DType::f32, {batch, heads, queries});
  dout_ = normal_tensor(dtype, {batch, heads, queries, width}, 4);
  dq_ = Tensor::zeros_like(q_), dk_ = Tensor::zeros_like(first.k), dv_ = Tensor::zeros_like(first.v);
  forward(first);
}

std::string AttentionCase::plan() const {
  const AttentionProblem problem = make_attention_problem("bench", q_, caches_.front().k, caches_.front().v, spec_);
  const auto name = [&](AttentionTask::Pass pass) {
    return std::string(choose_attention_plan(problem, {.pass = pass}).name);
  };
  if (pass_ == BenchPass::forward) return name(AttentionTask::Pass::forward);
  const std::string backward = name(AttentionTask::Pass::backward);
  if (pass_ == BenchPass::backward) return backward;
  const std::string forward = name(AttentionTask::Pass::forward);
  return forward == backward ? forward : forward + " + " + backward;
}

double AttentionCase::allowed_share() const {
  if (spec_.mask.is_open()) return 1;
  const MaskRows rows(spec_.mask, {shape_.batch, shape_.heads, shape_.queries, shape_.keys}, "bench");
  std::atomic<Index> allowed{0};
  parallel_for(shape_.heads * shape_.queries, 64, [&](Index begin, Index end) {
    std::vector<std::uint8_t> row(static_cast<std::size_t>(shape_.keys));
    Index count = 0;
    for (Index at = begin; at < end; ++at) {
      rows.fill(0, at / shape_.queries, at % shape_.queries, {0, shape_.keys}, row.data());
      count += std::count(row.begin(), row.end(), std::uint8_t{1});
    }
    allowed += count;
  });
  const double pairs = static_cast<double>(shape_.heads * shape_.queries) * static_cast<double>(shape_.keys);
  return static_cast<double>(allowed.load()) / pairs;
}

AttentionWork AttentionCase::work() const {
  const double rows = static_cast<double>(shape_.batch * shape_.heads * shape_.queries);
  const double width = static_cast<double>(shape_.width);
  const bool linear = spec_.normaliser.kind == Normaliser::Kind::sum;
  const double share = linear ? 1 : is_causal(spec_.mask) ? 0.5 : allowed_share();
  const double pairs = rows * static_cast<double>(shape_.keys) * share;

  const Cache& cache = caches_.front();
  AttentionWork forward;
  forward.operations = 4 * width * (linear ? rows * width : pairs);
  const bool exponential =
      spec_.normaliser.kind == Normaliser::Kind::softmax || spec_.normaliser.kind == Normaliser::Kind::sigmoid;
  if (exponential) forward.exponentials = pairs;
  if (linear) forward.exponentials = static_cast<double>(q_.size() + cache.k.size());  // of the feature map
  if (spec_.score.kind == Score::Kind::additive) forward.tanhs += pairs * width;
  if (spec_.bias.soft_cap) forward.tanhs += pairs;
  for (const Tensor* read : {&q_, &out_, &cache.k, &cache.v, &cache.scales.k, &cache.scales.v}) {
    if (!read->is_empty()) forward.bytes += static_cast<double>(read->size() * size_of(read->dtype()));
  }
  if (pass_ == BenchPass::forward) return forward;

  // The functions once more, since weights are computed again; q, k, v and out are read, and as many gradients written.
  const double own = pass_ == BenchPass::training ? 1 : 0;
  return {.operations = forward.operations * (own + kBackwardShare),
          .exponentials = forward.exponentials * (own + 1),
          .tanhs = forward.tanhs * (own + 1),
          .bytes = forward.bytes * (own + 2)};
}

const AttentionCase::Cache& AttentionCase::next_cache() {
  const Cache& cache = caches_[next_];
  next_ = (next_ + 1) % caches_.size();
  return cache;
}

void AttentionCase::read_keys() {
  const Cache& cache = next_cache();
  for (const Tensor* read : {&cache.k, &cache.v, &cache.scales.k, &cache.scales.v}) {
    if (read->is_empty()) continue;
    const auto bytes = static_cast<std::size_t>(read->size() * size_of(read->dtype()));
    read_memory({read->view().as<float>(), bytes / sizeof(float)});
  }
}

void AttentionCase::run() {
  const Cache& cache = next_cache();
  if (pass_ != BenchPass::backward) forward(cache);
  if (pass_ != BenchPass::forward) backward(cache);
}

void AttentionCase::forward(const Cache& cache) {
  spec_.scales = cache.scales;
  attention(q_, cache.k, cache.v, spec_, {.out = out_, .row_stat = row_stat_}, workspace_);
}

void AttentionCase::backward(const Cache& cache) {
  attention_backward(q_, cache.k, cache.v, spec_, {.out = out_, .row_stat = row_stat_, .dout = dout_},
                     {.dq = dq_, .dk = dk_, .dv = dv_}, workspace_);
}

}  // namespace heed
