#include "heed/testing/attention_kinds.h"

#include "heed/base/random.h"
#include "heed/testing/gradient_check.h"

namespace heed::testing {

AttentionSample plain_problem(const AttentionShape& s, DType dtype) {
  AttentionSample p;
  p.q = random_tensor(dtype, {s.batch, s.heads, s.queries, s.width}, 1);
  p.k = random_tensor(dtype, {s.batch, s.key_heads, s.keys, s.width}, 2);
  p.v = random_tensor(dtype, {s.batch, s.key_heads, s.keys, s.value_width}, 3);
  p.dout = random_tensor(dtype, {s.batch, s.heads, s.queries, s.value_width}, 4);
  return p;
}

std::vector<AttentionSample> attention_kinds(const AttentionShape& shape, DType dtype) {
  std::vector<AttentionSample> kinds;
  const AttentionSample plain = plain_problem(shape, dtype);
  const DType number = dtype == DType::f64 ? DType::f64 : DType::f32;
  const auto add = [&](const Score& score, const Normaliser& normaliser) -> AttentionSample& {
    AttentionSample& p = kinds.emplace_back(plain);
    p.spec.score = score, p.spec.normaliser = normaliser;
    return p;
  };
  add(Score::scaled_dot(), {});
  add(Score::additive({}), {}).vector = random_tensor(number, {shape.width}, 5);
  add(Score::cosine(3), {});
  add(Score::squared_distance(0.1), {});  // scores of the size of the others
  add(Score::scaled_dot(), {}).sinks = random_tensor(number, {shape.heads}, 6);
  for (const Normaliser& normaliser : {Normaliser::sigmoid(), Normaliser::sparsemax(), Normaliser::entmax15()}) {
    add(Score::scaled_dot(), normaliser);
  }
  for (auto map : {FeatureMap::Kind::elu_plus_one, FeatureMap::Kind::relu, FeatureMap::Kind::positive_random})
    for (const Normaliser& normaliser : {Normaliser::softmax(), Normaliser::sum()}) {
      const bool random = map == FeatureMap::Kind::positive_random;
      if (random && normaliser.kind != Normaliser::Kind::sum) continue;  // they are exponentials already
      AttentionSample& p = add(Score::features({.kind = map}), normaliser);
      if (!random) continue;
      p.projection = Tensor::empty(number, {6, shape.width});
      orthogonal_random_features(p.projection, 7);
    }
  for (AttentionSample& p : kinds) p.bind();
  return kinds;
}

bool has_positive_weights(const AttentionSample& p) {
  const Normaliser::Kind kind = p.spec.normaliser.kind;
  if (kind == Normaliser::Kind::sum) return p.spec.score.feature_map.kind != FeatureMap::Kind::relu;
  return kind != Normaliser::Kind::sparsemax && kind != Normaliser::Kind::entmax15;
}

bool has_weights_that_sum_to_one(const AttentionSample& p) {
  return p.spec.normaliser.kind != Normaliser::Kind::sigmoid && p.sinks.is_empty();
}

Tensor random_booleans(std::initializer_list<Index> shape, std::uint64_t seed) {
  Tensor tensor = Tensor::zeros(DType::boolean, shape);
  Rng rng(seed);
  for (Index i = 0; i < tensor.size(); ++i) tensor.data<std::uint8_t>()[i] = rng.below(3) != 0;
  return tensor;
}

}  // namespace heed::testing
