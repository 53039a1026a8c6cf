#include "heed/tasks/bench/attention_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "heed/base/random.h"
#include "heed/tasks/bench/machine.h"

namespace heed {
namespace {

using SpecMaker = std::function<AttentionSpec(const AttentionShape&)>;
using Rows = std::vector<AttentionRow>;

AttentionShape square(Index length, Index width = 64, Index heads = 8) {
  return {.heads = heads, .queries = length, .keys = length, .width = width};
}

AttentionShape as_bf16(AttentionShape shape) {
  shape.dtype = DType::bf16;
  return shape;
}

// A spec that depends on no shape.
SpecMaker always(AttentionSpec spec) {
  return [spec = std::move(spec)](const AttentionShape&) { return spec; };
}

SpecMaker causal() { return always({.mask = Mask::causal()}); }
SpecMaker linear() { return always({.score = Score::features({}), .normaliser = Normaliser::sum()}); }

AttentionRow alone(std::string name, AttentionSide side) { return {.name = std::move(name), .side = std::move(side)}; }

// Timed in turn with `base`, which `over` names.
AttentionRow beside(std::string name, AttentionSide side, AttentionSide base, std::string over) {
  return {.name = std::move(name), .side = std::move(side), .base = std::move(base), .over = std::move(over)};
}

// --- Dense and causal ------------------------------------------------------------------------------------------------

std::string length_and_width(const AttentionShape& shape) { return fmt::format("L{}/D{}", shape.queries, shape.width); }

Rows dense_rows() {
  Rows rows;
  const auto add = [&](const std::string& kind, AttentionShape shape, BenchPass pass, const SpecMaker& spec = {}) {
    const std::string heads = shape.heads == 8 ? "" : fmt::format("/H{}", shape.heads);
    const std::string type = shape.dtype == DType::bf16 ? "bf16-" : "";
    rows.push_back(
        alone(type + kind + "/" + length_and_width(shape) + heads, {.shape = shape, .pass = pass, .spec = spec}));
  };
  const auto forward = BenchPass::forward, training = BenchPass::training;
  for (Index length : {128, 512, 1024, 4096}) add("forward", square(length), forward);
  for (Index length : {1024, 4096}) add("forward", square(length, 128), forward);
  add("forward", square(16384, 64, 2), forward);
  for (Index length : {512, 1024, 4096}) add("causal", square(length), forward, causal());
  for (Index length : {512, 1024}) add("training", square(length), training);
  add("training", square(1024, 128), training);
  for (Index width : {64, 128}) add("training-causal", square(1024, width), training, causal());
  for (Index length : {512, 1024, 4096}) add("forward", as_bf16(square(length)), forward);
  for (Index length : {1024, 4096}) add("forward", as_bf16(square(length, 128)), forward);
  for (Index length : {1024, 4096}) add("causal", as_bf16(square(length)), forward, causal());
  for (Index width : {64, 128}) add("training", as_bf16(square(1024, width)), training);
  return rows;
}

Rows short_rows() {
  const AttentionShape shape{.batch = 64, .heads = 4, .queries = 24, .keys = 24, .width = 32};
  return {alone("short/forward", {.shape = shape}), alone("short/causal", {.shape = shape, .spec = causal()}),
          alone("short/training", {.shape = shape, .pass = BenchPass::training})};
}

// --- Decoding --------------------------------------------------------------------------------------------------------

// The next token of one sequence: 32 query heads over 8.
AttentionSide next_token(DType dtype, bool int8_cache = false) {
  return {.shape = {.heads = 32,
                    .queries = 1,
                    .keys = 4096,
                    .width = 128,
                    .key_heads = 8,
                    .dtype = dtype,
                    .int8_cache = int8_cache},
          .from_memory = true};
}

Rows decode_rows() {
  return {alone("decode/f32", next_token(DType::f32)), alone("decode/bf16", next_token(DType::bf16)),
          alone("decode/int8", next_token(DType::f32, true))};
}

// What comes next in a conversation, which meets a cache of int8.
Rows prompt_rows() {
  AttentionShape shape = next_token(DType::f32).shape;
  shape.queries = 512, shape.keys = 2048;
  AttentionShape int8 = shape;
  int8.int8_cache = true;
  return {beside("prompt/int8", {.shape = int8}, {.shape = shape}, "keys and values of f32")};
}

// --- Sparse ----------------------------------------------------------------------------------------------------------

AttentionRow beside_dense(std::string name, AttentionShape shape, const Mask& mask,
                          BenchPass pass = BenchPass::forward) {
  AttentionRow row = beside(std::move(name), {.shape = shape, .pass = pass, .spec = always({.mask = mask})},
                            {.shape = shape, .pass = pass}, "dense x allowed share");
  row.of_allowed_pairs = true;
  return row;
}

// Four times the length over one; the pattern grows with the root of the length.
AttentionRow four_lengths(std::string name, const Mask& mask, const Mask& mask_of_quarter) {
  return beside(std::move(name), {.shape = square(16384, 64, 1), .spec = always({.mask = mask})},
                {.shape = square(4096, 64, 1), .spec = always({.mask = mask_of_quarter})}, "a quarter of the length");
}

// Documents of `length` tokens, packed into one row of `tokens`.
Mask documents(Index tokens, Index length) {
  const Tensor segments = Tensor::empty(DType::i32, {1, tokens});
  for (Index i = 0; i < tokens; ++i) segments.data<std::int32_t>()[i] = static_cast<std::int32_t>(i / length);
  return Mask::segments(segments, segments);
}

Rows sparse_rows() {
  const Mask strided = Mask::strided({.stride = 128}), fixed = Mask::fixed({.block = 128});
  const Mask strided_64 = Mask::strided({.stride = 64}), fixed_64 = Mask::fixed({.block = 64});
  return {beside_dense("sparse/strided/L16384", square(16384, 64, 1), strided),
          beside_dense("sparse/fixed/L16384", square(16384, 64, 1), fixed),
          beside_dense("sparse/strided-backward/L4096", square(4096), strided_64, BenchPass::backward),
          beside_dense("sparse/fixed-backward/L4096", square(4096), fixed_64, BenchPass::backward),
          four_lengths("sparse/strided/four-lengths", strided, strided_64),
          four_lengths("sparse/fixed/four-lengths", fixed, fixed_64),
          beside_dense("sparse/longformer/L4096", square(4096), Mask::longformer({.radius = 128, .global = 64})),
          beside_dense("sparse/bigbird/L4096", square(4096), Mask::bigbird({.positions = 4096})),
          beside_dense("sparse/window/L1024", square(1024), Mask::sliding_window(64, 63)),
          beside_dense("sparse/segments/L1024", square(1024), documents(1024, 128))};
}

// --- Linear and additive ---------------------------------------------------------------------------------------------

Rows linear_rows() {
  Rows rows;
  for (const auto& [name, pass] :
       {std::pair("forward", BenchPass::forward), std::pair("backward", BenchPass::backward)})
    rows.push_back(alone(fmt::format("linear/{}", name), {.shape = square(4096), .pass = pass, .spec = linear()}));
  for (Index length = 4096; length <= 262144; length *= 2) {
    const AttentionSide side{.shape = square(length, 64, 2), .spec = linear()};
    const AttentionSide base{.shape = square(length / 2, 64, 2), .spec = linear()};
    rows.push_back(beside(fmt::format("linear/doubled/L{}", length), side, base, "half of the length"));
  }
  return rows;
}

Rows additive_rows() {
  const SpecMaker additive = [](const AttentionShape& shape) {
    const Tensor vector = Tensor::empty(DType::f32, {shape.width});
    Rng rng(5);
    for (Index i = 0; i < shape.width; ++i) vector.data<float>()[i] = static_cast<float>(rng.normal());
    return AttentionSpec{.score = Score::additive(vector)};
  };
  const AttentionShape shape = square(512, 128, 1);
  return {alone("additive/forward", {.shape = shape, .spec = additive}),
          alone("additive/backward", {.shape = shape, .pass = BenchPass::backward, .spec = additive})};
}

// --- What a bias, a mask, dropout, a score or a normaliser adds ------------------------------------------------------

AttentionSpec with_alibi(const AttentionShape& shape) {
  const Tensor slopes = Tensor::empty(DType::f32, {shape.heads});
  alibi_slopes(slopes);
  return {.bias = {.alibi = slopes}};
}

AttentionSpec with_t5(const AttentionShape& shape) {
  constexpr Index kBuckets = 32;
  const Tensor table = Tensor::empty(DType::f32, {kBuckets, shape.heads});
  Rng rng(6);
  for (Index i = 0; i < table.size(); ++i) table.data<float>()[i] = static_cast<float>(rng.normal());
  return {.bias = {.relative = {.table = table}}};
}

// One for all heads, as a mask of numbers is in PyTorch.
AttentionSpec with_dense_bias(const AttentionShape& shape) {
  const Tensor bias = Tensor::empty(DType::f32, {1, 1, shape.queries, shape.keys});
  Rng rng(7);
  for (Index i = 0; i < bias.size(); ++i) bias.data<float>()[i] = static_cast<float>(rng.normal());
  return {.bias = {.dense = bias}};
}

AttentionSpec with_boolean_mask(const AttentionShape& shape) {
  const Tensor allowed = Tensor::empty(DType::boolean, {1, 1, shape.queries, shape.keys});
  Rng rng(8);
  for (Index i = 0; i < allowed.size(); ++i) allowed.data<bool>()[i] = rng.uniform() < 0.9;
  return {.mask = Mask::boolean(allowed)};
}

Rows beside_plain_rows() {
  const AttentionShape shape = square(1024);
  const std::pair<const char*, SpecMaker> over_plain[] = {{"alibi", with_alibi},
                                                          {"t5", with_t5},
                                                          {"dense-bias", with_dense_bias},
                                                          {"soft-cap", always({.bias = {.soft_cap = 50.0}})},
                                                          {"dropout", always({.dropout = {.probability = 0.1}})},
                                                          {"boolean-mask", with_boolean_mask}};
  const std::pair<const char*, SpecMaker> over_softmax[] = {
      {"cosine", always({.score = Score::cosine(10)})},
      {"distance", always({.score = Score::squared_distance()})},
      {"sigmoid", always({.normaliser = Normaliser::sigmoid()})},
      {"sparsemax", always({.normaliser = Normaliser::sparsemax()})},
      {"entmax15", always({.normaliser = Normaliser::entmax15()})}};
  Rows rows;
  const auto add = [&](const char* group, const char* kind, const SpecMaker& spec, const char* base) {
    rows.push_back(beside(fmt::format("{}/{}", group, kind), {.shape = shape, .spec = spec}, {.shape = shape}, base));
  };
  for (const auto& [kind, spec] : over_plain) add("over-plain", kind, spec, "plain");
  // Scores whose standard deviation is 20 and not 1, as of heads that are sure: most weights are next to nothing.
  const AttentionSide training{.shape = shape, .pass = BenchPass::training};
  AttentionSide wide = training;
  wide.spec = always({.score = Score::scaled_dot(20 / std::sqrt(static_cast<double>(shape.width)))});
  rows.push_back(beside("over-plain/wide-scores", wide, training, "plain"));
  for (const auto& [kind, spec] : over_softmax) add("over-softmax", kind, spec, "scaled dot, softmax");
  return rows;
}

// --- Threads ---------------------------------------------------------------------------------------------------------

Rows thread_rows(int threads) {
  const std::pair<const char*, AttentionSide> sides[] = {{"dense", {.shape = square(1024)}},
                                                         {"causal", {.shape = square(1024), .spec = causal()}},
                                                         {"one-head", {.shape = square(8192, 64, 1)}},
                                                         {"decode", next_token(DType::f32)}};
  Rows rows;
  for (const auto& [name, side] : sides) {
    AttentionSide one_thread = side;
    one_thread.threads = 1;
    rows.push_back(beside(fmt::format("one-thread/{}", name), one_thread, side, fmt::format("{} threads", threads)));
  }
  return rows;
}

}  // namespace

AttentionCase AttentionSide::make() const {
  Index copies = 1;
  if (from_memory) {
    const Index key_heads = shape.key_heads == 0 ? shape.heads : shape.key_heads;
    const Index size = size_of(shape.int8_cache ? DType::i8 : shape.dtype);
    const Index bytes = 2 * shape.batch * key_heads * shape.keys * shape.width * size;
    copies = beyond_cache_bytes() / bytes + 1;
  }
  return AttentionCase(shape, spec ? spec(shape) : AttentionSpec{}, pass, copies);
}

std::vector<AttentionRow> attention_rows(int threads) {
  Rows rows;
  const auto add = [&](Rows more) {
    rows.insert(rows.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  };
  add(dense_rows());
  add(short_rows());
  add(decode_rows());
  add(prompt_rows());
  add(sparse_rows());
  add(linear_rows());
  add(additive_rows());
  add(beside_plain_rows());
  if (threads > 1) add(thread_rows(threads));
  return rows;
}

}  // namespace heed
