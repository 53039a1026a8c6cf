// Attention at the shapes that training and translating have. One thread; the counters are multiply-adds.
#include <benchmark/benchmark.h>

#include <chrono>
#include <utility>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/plans/plan.h"
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
enum Scores : std::int64_t { kDot, kAdditive, kCosine, kDistance, kFeatures };
enum Normalisers : std::int64_t { kSoftmax, kSigmoid, kSparsemax, kEntmax15, kSum };

Score score_of(std::int64_t kind, const Tensor& vector) {
  switch (kind) {
    case kAdditive:
      return Score::additive(vector);
    case kCosine:
      return Score::cosine(10);
    case kDistance:
      return Score::squared_distance();
    case kFeatures:
      return Score::features({});
    default:
      return Score::scaled_dot(1.5);  // whose variance is about 1
  }
}

Normaliser normaliser_of(std::int64_t kind) {
  constexpr Normaliser (*kMakers[])() = {[] { return Normaliser::softmax(); }, Normaliser::sigmoid,
                                         Normaliser::sparsemax, Normaliser::entmax15, Normaliser::sum};
  return kMakers[kind]();
}

// Arguments: B, H, Lq, Lk, D, mask, dropout in percent, score, normaliser.
struct BenchCase {
  Tensor q, k, v, out, stat, dout, dq, dk, dv;
  struct {
    View q, k, v, out, dout, dq, dk, dv;
  } by_head;  // the same, [B, H, L, D]
  AttentionSpec spec;
  Index heads;

  explicit BenchCase(const benchmark::State& state) : BenchCase(state, state.range(7), state.range(8)) {}
  BenchCase(const benchmark::State& state, std::int64_t score, std::int64_t normaliser) : heads(state.range(1)) {
    const Index batch = state.range(0), queries = state.range(2), keys = state.range(3), width = state.range(4);
    q = random_tensor({batch, queries, heads * width}, 1), k = random_tensor({batch, keys, heads * width}, 2);
    v = random_tensor({batch, keys, heads * width}, 3), dout = random_tensor({batch, queries, heads * width}, 4);
    out = Tensor::zeros_like(q), stat = Tensor::zeros(DType::f32, {batch, heads, queries});
    dq = Tensor::zeros_like(q), dk = Tensor::zeros_like(k), dv = Tensor::zeros_like(v);
    if (state.range(5) != kNoMask) spec.mask = Mask::causal();
    if (state.range(5) == kBigBird) spec.mask = spec.mask & Mask::bigbird({.positions = keys});
    spec.dropout.probability = static_cast<double>(state.range(6)) / 100;
    spec.score = score_of(score, random_tensor({width}, 5)), spec.normaliser = normaliser_of(normaliser);
    set_thread_count(1);
    const auto split = [&](const Tensor& tensor) { return split_heads(tensor.view(), heads); };
    by_head = {split(q), split(k), split(v), split(out), split(dout), split(dq), split(dk), split(dv)};
  }
  void forward(Workspace& workspace) const {
    attention(by_head.q, by_head.k, by_head.v, spec, {.out = by_head.out, .row_stat = stat}, workspace);
  }
  void backward(Workspace& workspace) const {
    attention_backward(by_head.q, by_head.k, by_head.v, spec,
                       {.out = by_head.out, .row_stat = stat, .dout = by_head.dout},
                       {.dq = by_head.dq, .dk = by_head.dk, .dv = by_head.dv}, workspace);
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

// Every weight again from row_stat, whose products are half of the forward pass's.
void weights_again(benchmark::State& state) {
  const BenchCase shape(state);
  const Tensor weights = Tensor::empty(DType::f32, {state.range(0), state.range(1), state.range(2), state.range(3)});
  Workspace workspace;
  shape.forward(workspace);
  for (auto _ : state) {
    attention_weights(shape.by_head.q, shape.by_head.k, shape.spec, shape.stat, weights, workspace);
  }
  report(state, shape.multiply_adds() / 2);
}

double seconds(const BenchCase& shape, Workspace& workspace, bool backward) {
  const auto start = std::chrono::steady_clock::now();
  backward ? shape.backward(workspace) : shape.forward(workspace);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A score and a normaliser in turn with a dot product under softmax, whose speed is 1.
void beside_softmax(benchmark::State& state, bool backward) {
  const BenchCase shape(state), softmax(state, kDot, kSoftmax);
  Workspace workspace;
  shape.forward(workspace), softmax.forward(workspace);
  double own = 0, other = 0;
  for (auto _ : state) {
    other += seconds(softmax, workspace, backward);
    const double time = seconds(shape, workspace, backward);
    state.SetIterationTime(time);
    own += time;
  }
  report(state, shape.multiply_adds() * (backward ? 2.5 : 1));
  state.counters["speed_beside_softmax"] = other / own;
}

void forward_beside_softmax(benchmark::State& state) { beside_softmax(state, false); }
void backward_beside_softmax(benchmark::State& state) { beside_softmax(state, true); }

// What a call costs beyond its arithmetic, which the plan does alone here: the difference to attention_forward.
void plan_alone(benchmark::State& state) {
  const BenchCase shape(state);
  Workspace workspace;
  const AttentionProblem problem =
      make_attention_problem("bench", shape.by_head.q, shape.by_head.k, shape.by_head.v, shape.spec);
  const AttentionResult result{.out = shape.by_head.out, .row_stat = shape.stat};
  const AttentionPlan& plan = choose_attention_plan(problem);
  for (auto _ : state) plan.forward(problem, result, workspace);
  report(state, shape.multiply_adds());
}

void shapes(benchmark::internal::Benchmark* table) {
  table->ArgNames({"B", "H", "Lq", "Lk", "D", "mask", "drop", "score", "normaliser"});
  table->Args({290, 4, 14, 14, 32, 0, 0, 0, 0})
      ->Args({290, 4, 14, 14, 32, kCausal, 10, 0, 0});  // training on short sentences
  table->Args({64, 8, 25, 30, 64, 0, 10, 0, 0})->Args({16, 8, 64, 64, 64, kCausal, 0, 0, 0});
  table->Args({2, 8, 512, 512, 64, kCausal, 0, 0, 0})->Args({1, 8, 2048, 2048, 64, 0, 0, 0, 0});
  table->Args({1, 8, 2048, 2048, 64, kBigBird, 0, 0, 0});
  table->Args({1, 8, 2048, 2048, 64, 0, 0, kFeatures, kSum});
  table->Args({1, 8, 2048, 2048, 64, kCausal, 0, kFeatures, kSum});
  table->Args({320, 8, 1, 30, 64, 0, 0, 0, 0})->Args({320, 8, 1, 100, 64, 0, 0, 0, 0});  // a step of beam search
  table->Args({64, 1, 1, 30, 256, 0, 0, kAdditive, 0});
  table->Args({64, 1, 1, 30, 1024, 0, 0, kAdditive, 0});  // a step of a recurrent decoder
  table->Args({1, 1, 512, 512, 128, 0, 0, kAdditive, 0});
  for (std::int64_t length : {131072, 262144}) table->Args({1, 1, length, length, 64, kCausal, 0, kFeatures, kSum});
}

void long_sequences(benchmark::internal::Benchmark* table) {
  table->ArgNames({"B", "H", "Lq", "Lk", "D", "mask", "drop", "score", "normaliser"});
  for (std::int64_t mask : {kNoMask, kCausal}) table->Args({1, 8, 2048, 2048, 64, mask, 0, 0, 0});
}

void kinds(benchmark::internal::Benchmark* table) {
  table->ArgNames({"B", "H", "Lq", "Lk", "D", "mask", "drop", "score", "normaliser"})->UseManualTime();
  for (std::int64_t length : {64, 512, 2048})
    for (auto [score, normaliser] : {std::pair<std::int64_t, std::int64_t>{kDot, kSigmoid},
                                     {kDot, kSparsemax},
                                     {kDot, kEntmax15},
                                     {kCosine, kSoftmax},
                                     {kDistance, kSoftmax},
                                     {kAdditive, kSoftmax}}) {
      table->Args({1, 8, length, length, 64, 0, 0, score, normaliser});
    }
}

// A step of decoding one sentence, whose arithmetic is small.
void one_query(benchmark::internal::Benchmark* table) {
  table->ArgNames({"B", "H", "Lq", "Lk", "D", "mask", "drop", "score", "normaliser"});
  table->Args({1, 8, 1, 16, 64, 0, 0, 0, 0})->Args({1, 8, 1, 16, 64, kCausal, 0, 0, 0});
}

BENCHMARK(attention_forward)->Apply(one_query)->Apply(shapes);
BENCHMARK(plan_alone)->Apply(one_query);
BENCHMARK(attention_backward)->Apply(shapes);
BENCHMARK(weights_again)->Apply(long_sequences);
BENCHMARK(forward_beside_softmax)->Apply(kinds);
BENCHMARK(backward_beside_softmax)->Apply(kinds);

}  // namespace
}  // namespace heed
