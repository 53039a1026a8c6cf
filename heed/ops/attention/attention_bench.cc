// Attention at the shapes that training and translating have. One thread; the counters are multiply-adds.
#include <benchmark/benchmark.h>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/attention/attention.h"
#include "heed/tensor/tensor.h"

namespace heed {
namespace {

Tensor random_tensor(std::initializer_list<Index> shape, std::uint64_t seed) {
  const Tensor tensor = Tensor::empty(DType::f32, shape);
  Rng rng(seed);
  for (Index i = 0; i < tensor.size(); ++i) tensor.data<float>()[i] = static_cast<float>(rng.uniform() - 0.5);
  return tensor;
}

enum Masks : std::int64_t { kNoMask, kCausal, kBigBird };
enum Scores : std::int64_t { kDot, kAdditive, kFeatures };

// Arguments: B, H, Lq, Lk, D, mask, dropout in percent, score.
struct BenchCase {
  Tensor q, k, v, out, stat, dout, dq, dk, dv, vector;
  AttentionSpec spec;
  Index heads;

  explicit BenchCase(const benchmark::State& state) : heads(state.range(1)) {
    const Index batch = state.range(0), queries = state.range(2), keys = state.range(3), width = state.range(4);
    q = random_tensor({batch, queries, heads * width}, 1), k = random_tensor({batch, keys, heads * width}, 2);
    v = random_tensor({batch, keys, heads * width}, 3), dout = random_tensor({batch, queries, heads * width}, 4);
    out = Tensor::zeros_like(q), stat = Tensor::zeros(DType::f32, {batch, heads, queries});
    dq = Tensor::zeros_like(q), dk = Tensor::zeros_like(k), dv = Tensor::zeros_like(v);
    if (state.range(5) != kNoMask) spec.mask = Mask::causal();
    if (state.range(5) == kBigBird) spec.mask = spec.mask & Mask::bigbird({.positions = keys});
    spec.dropout.probability = static_cast<double>(state.range(6)) / 100;
    if (state.range(7) == kAdditive) spec.score = Score::additive((vector = random_tensor({width}, 5)).view());
    if (state.range(7) == kFeatures) spec.score = Score::features({}), spec.normaliser = Normaliser::sum();
    set_thread_count(1);
  }
  View split(const Tensor& tensor) const { return split_heads(tensor.view(), heads); }
  void forward(Workspace& workspace) const {
    attention(split(q), split(k), split(v), spec, {.out = split(out), .row_stat = stat}, workspace);
  }
  void backward(Workspace& workspace) const {
    attention_backward(split(q), split(k), split(v), spec, {.out = split(out), .row_stat = stat, .dout = split(dout)},
                       {.dq = split(dq), .dk = split(dk), .dv = split(dv)}, workspace);
  }
  double multiply_adds() const {
    return static_cast<double>(q.dim(0) * q.dim(1) * k.dim(1) * 2) * static_cast<double>(q.dim(2));
  }
};

void report(benchmark::State& state, double multiply_adds) {
  state.counters["heads"] = benchmark::Counter(static_cast<double>(state.range(0) * state.range(1)),
                                               benchmark::Counter::kIsIterationInvariantRate);
  state.counters["madd"] = benchmark::Counter(multiply_adds, benchmark::Counter::kIsIterationInvariantRate);
}

void attention_forward(benchmark::State& state) {
  const BenchCase shape(state);
  Workspace workspace;
  for (auto _ : state) shape.forward(workspace);
  report(state, shape.multiply_adds());
}

void attention_backward(benchmark::State& state) {
  const BenchCase shape(state);
  Workspace workspace;
  shape.forward(workspace);
  for (auto _ : state) shape.backward(workspace);
  report(state, shape.multiply_adds() * 2.5);
}

void shapes(benchmark::internal::Benchmark* table) {
  table->ArgNames({"B", "H", "Lq", "Lk", "D", "mask", "drop", "score"});
  table->Args({290, 4, 14, 14, 32, 0, 0, 0})
      ->Args({290, 4, 14, 14, 32, kCausal, 10, 0});  // training on short sentences
  table->Args({64, 8, 25, 30, 64, 0, 10, 0})->Args({16, 8, 64, 64, 64, kCausal, 0, 0});
  table->Args({2, 8, 512, 512, 64, kCausal, 0, 0})->Args({1, 8, 2048, 2048, 64, 0, 0, 0});
  table->Args({1, 8, 2048, 2048, 64, kBigBird, 0, 0});
  table->Args({1, 8, 2048, 2048, 64, 0, 0, kFeatures})->Args({1, 8, 2048, 2048, 64, kCausal, 0, kFeatures});
  table->Args({320, 8, 1, 30, 64, 0, 0, 0})->Args({320, 8, 1, 100, 64, 0, 0, 0});  // a step of beam search
  table->Args({64, 1, 1, 30, 256, 0, 0, kAdditive})
      ->Args({64, 1, 1, 30, 1024, 0, 0, kAdditive});  // a step of a recurrent decoder
}

BENCHMARK(attention_forward)->Apply(shapes);
BENCHMARK(attention_backward)->Apply(shapes);

}  // namespace
}  // namespace heed
