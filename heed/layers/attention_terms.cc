#include "heed/layers/attention_terms.h"

#include <cmath>
#include <utility>

#include "heed/base/check.h"

namespace heed {
namespace {

using Role = AttentionTerm::Role;
using Layer = AttentionTerm::Layer;
using Numbers = std::span<const double>;

constexpr double kMost = 1 << 24;  // of a number of positions

Index whole(double number) { return static_cast<Index>(number); }

void keep_default(Numbers, const Layer&, LayerAttention&) {}

// Linear attention divides by the sum of its scores; a normaliser that is chosen comes after it, and is the one.
void set_features(FeatureMap map, LayerAttention& made) {
  made.spec.score = Score::features(std::move(map));
  made.spec.normaliser = Normaliser::sum();
}

void performer(Numbers n, const Layer& layer, LayerAttention& made) {
  const Tensor projection = layer.scope.computed([&] {
    const Tensor features = Tensor::empty(DType::f32, {whole(n[0]), layer.head_width});
    orthogonal_random_features(features, static_cast<std::uint64_t>(n[1]));
    return features;
  });
  set_features({FeatureMap::Kind::positive_random, projection}, made);
}

void additive(Numbers, const Layer& layer, LayerAttention& made) {
  made.spec.score.kind = Score::Kind::additive;
  const double bound = 1 / std::sqrt(static_cast<double>(layer.head_width));
  made.learned.push_back({layer.scope.vector("additive_vector", layer.head_width, Initial::uniform(bound)),
                          [](AttentionSpec& spec) -> Tensor& { return spec.score.additive_vector; }});
}

void alibi(Numbers, const Layer& layer, LayerAttention& made) {
  made.spec.bias.alibi = layer.scope.computed([&] {
    const Tensor slopes = Tensor::empty(DType::f32, {layer.heads});
    alibi_slopes(slopes);
    return slopes;
  });
}

void relative(Numbers n, const Layer& layer, LayerAttention& made) {
  made.learned.push_back({layer.scope.matrix("relative_bias", whole(n[0]), layer.heads, Initial::constant(0)),
                          [](AttentionSpec& spec) -> Tensor& { return spec.bias.relative.table; }});
  made.spec.bias.relative.bidirectional = !layer.causal;
  made.spec.bias.relative.max_distance = whole(n[1]);
}

void sinks(Numbers, const Layer& layer, LayerAttention& made) {
  made.learned.push_back({layer.scope.vector("sinks", layer.heads, Initial::constant(0)),
                          [](AttentionSpec& spec) -> Tensor& { return spec.normaliser.sinks; }});
}

// `n` are the last of a term's numbers, those of every rotary term.
void turn(Numbers n, const Layer& layer, const RotaryScaling& scaling, LayerAttention& made) {
  HEED_CHECK(!made.rotary, "attention: queries and keys are turned once, by one rotary term");
  made.rotary = Rotary{.pairing = n[2] > 0 ? RotaryPairing::interleaved : RotaryPairing::halves,
                       .width = n[1] > 0 ? whole(n[1]) : layer.head_width,
                       .base = n[0],
                       .scaling = scaling};
}

// A scaling's numbers, and behind them every rotary term's.
std::vector<AttentionTerm::Number> rotary_numbers(std::vector<AttentionTerm::Number> of_scaling = {}) {
  of_scaling.push_back({"base", 10000, NumberRange::above(1), false});
  of_scaling.push_back({"width", 0, NumberRange::from(0, kMost)});
  of_scaling.push_back({"interleaved", 0, NumberRange::from(0, 1)});
  return of_scaling;
}

void add_mask(LayerAttention& made, const Mask& mask) { made.spec.mask = made.spec.mask & mask; }

std::vector<AttentionTerm> all_terms() {
  return {
      // Scores.
      {"scaled_dot", Role::score, "q . k / sqrt(d), the default (Vaswani et al. 2017)", {}, keep_default},
      {"dot",
       Role::score,
       "scale * q . k (Luong et al. 2015)",
       {{"scale", 1, NumberRange::above(0), false}},
       [](Numbers n, const Layer&, LayerAttention& made) { made.spec.score = Score::scaled_dot(n[0]); }},
      {"additive", Role::score, "v . tanh(q + k), v learned (Bahdanau et al. 2015)", {}, additive},
      {"cosine",
       Role::score,
       "scale * cos(q, k) (Henry et al. 2020)",
       {{"scale", 10, NumberRange::above(0), false}},
       [](Numbers n, const Layer&, LayerAttention& made) { made.spec.score = Score::cosine(n[0]); }},
      {"squared_distance",
       Role::score,
       "-|q - k|^2 / sqrt(d) (Kim et al. 2021)",
       {},
       [](Numbers, const Layer&, LayerAttention& made) { made.spec.score = Score::squared_distance(); }},
      {"elu",
       Role::score,
       "phi(q) . phi(k), phi(x) = elu(x) + 1: linear attention (Katharopoulos et al. 2020)",
       {},
       [](Numbers, const Layer&, LayerAttention& made) { set_features({FeatureMap::Kind::elu_plus_one}, made); },
       false,
       true},
      {"relu",
       Role::score,
       "phi(q) . phi(k), phi(x) = max(x, 0): linear attention",
       {},
       [](Numbers, const Layer&, LayerAttention& made) { set_features({FeatureMap::Kind::relu}, made); },
       false,
       true},
      {"performer",
       Role::score,
       "positive random features: linear attention near softmax (Choromanski et al. 2021)",
       {{"features", 64, NumberRange::from(1, 1 << 16)}, {"seed", 1, NumberRange::from(0, 1e15)}},
       performer,
       false,
       true},
      // Positions.
      {"rotary", Role::position, "queries and keys turned by their positions (Su et al. 2021)", rotary_numbers(),
       [](Numbers n, const Layer& layer, LayerAttention& made) { turn(n, layer, {}, made); }, true},
      {"rotary_linear", Role::position,
       "rotary for texts `factor` times as long: positions divided by it (Chen et al. 2023)",
       rotary_numbers({{"factor", 2, NumberRange::above(0), false}}),
       [](Numbers n, const Layer& layer, LayerAttention& made) {
         turn(n.subspan(1), layer, RotaryScaling::linear(n[0]), made);
       },
       true},
      {"rotary_ntk", Role::position, "rotary for texts `factor` times as long: a larger base",
       rotary_numbers({{"factor", 2, NumberRange::above(0), false}}),
       [](Numbers n, const Layer& layer, LayerAttention& made) {
         turn(n.subspan(1), layer, RotaryScaling::ntk(n[0]), made);
       },
       true},
      {"rotary_llama3", Role::position, "rotary for texts `factor` times as long: slow pairs divided by it (Llama 3.1)",
       rotary_numbers({{"factor", 8, NumberRange::above(0), false},
                       {"original_length", 8192, NumberRange::from(1, kMost)},
                       {"slow_turns", 1, NumberRange::above(0), false},
                       {"fast_turns", 4, NumberRange::above(0), false}}),
       [](Numbers n, const Layer& layer, LayerAttention& made) {
         turn(n.subspan(4), layer, RotaryScaling::llama3(n[0], whole(n[1]), n[2], n[3]), made);
       },
       true},
      {"rotary_yarn", Role::position,
       "rotary for texts `factor` times as long: slow pairs divided by it, scores sharpened (Peng et al. 2023)",
       rotary_numbers({{"factor", 4, NumberRange::above(0), false},
                       {"original_length", 4096, NumberRange::from(1, kMost)},
                       {"slow_turns", 1, NumberRange::above(0), false},
                       {"fast_turns", 32, NumberRange::above(0), false},
                       {"attention_factor", 0, NumberRange::from(0, 100), false}}),
       [](Numbers n, const Layer& layer, LayerAttention& made) {
         RotaryScaling scaling = RotaryScaling::yarn(n[0], whole(n[1]), n[2], n[3]);
         if (n[4] > 0) scaling.attention_factor = n[4];
         turn(n.subspan(5), layer, scaling, made);
       },
       true},
      {"rotary_longrope", Role::position,
       "rotary with each pair divided by its own of `factors`, scores sharpened (LongRoPE; Ding et al. 2024)",
       rotary_numbers({{"attention_factor", 1, NumberRange::above(0), false}}),
       [](Numbers n, const Layer& layer, LayerAttention& made) {
         const Numbers factors = n.subspan(4);
         turn(n.subspan(1), layer, RotaryScaling::longrope({factors.begin(), factors.end()}, n[0]), made);
       },
       true, false, "factors"},
      // Biases.
      {"alibi", Role::bias, "minus a slope for each head times the distance (Press et al. 2022)", {}, alibi, true},
      {"relative",
       Role::bias,
       "learned, for each head and bucket of distances (T5; Raffel et al. 2020)",
       {{"buckets", 32, NumberRange::from(2, 1 << 16)}, {"max_distance", 128, NumberRange::from(1, kMost)}},
       relative,
       true},
      {"soft_cap",
       Role::bias,
       "a score x becomes cap * tanh(x / cap) (Gemma 2)",
       {{"cap", 50, NumberRange::above(0), false}},
       [](Numbers n, const Layer&, LayerAttention& made) { made.spec.bias.soft_cap = n[0]; }},
      // Masks.
      {"window",
       Role::mask,
       "keys within radius of the query",
       {{"radius", 8, NumberRange::from(0, kMost)}},
       [](Numbers n, const Layer&, LayerAttention& made) {
         add_mask(made, Mask::sliding_window(whole(n[0]), whole(n[0])));
       },
       true},
      {"strided",
       Role::mask,
       "keys within stride, and every stride-th (Child et al. 2019)",
       {{"stride", 8, NumberRange::from(1, kMost)}},
       [](Numbers n, const Layer&, LayerAttention& made) { add_mask(made, Mask::strided({.stride = whole(n[0])})); },
       true},
      {"fixed",
       Role::mask,
       "the query's block, and the last `summary` of every block (Child et al. 2019)",
       {{"block", 8, NumberRange::from(1, kMost)}, {"summary", 1, NumberRange::from(0, kMost)}},
       [](Numbers n, const Layer&, LayerAttention& made) {
         add_mask(made, Mask::fixed({.block = whole(n[0]), .summary = whole(n[1])}));
       },
       true},
      {"longformer",
       Role::mask,
       "every dilation-th key within radius, and `global` first positions (Beltagy et al. 2020)",
       {{"radius", 8, NumberRange::from(0, kMost)},
        {"global", 1, NumberRange::from(0, kMost)},
        {"dilation", 1, NumberRange::from(1, kMost)}},
       [](Numbers n, const Layer&, LayerAttention& made) {
         add_mask(made, Mask::longformer({.radius = whole(n[0]), .global = whole(n[1]), .dilation = whole(n[2])}));
       },
       true},
      {"bigbird",
       Role::mask,
       "blocks: `window` around the query's own, global ones, random ones (Zaheer et al. 2020)",
       {{"block", 8, NumberRange::from(1, kMost)},
        {"window", 3, NumberRange::from(1, 1 << 16)},
        {"global", 1, NumberRange::from(0, kMost)},
        {"random", 1, NumberRange::from(0, 16)},
        {"seed", 0, NumberRange::from(0, 1e15)}},
       [](Numbers n, const Layer& layer, LayerAttention& made) {
         add_mask(made, Mask::bigbird({.block = whole(n[0]),
                                       .window = whole(n[1]),
                                       .global = whole(n[2]),
                                       .random = whole(n[3]),
                                       .positions = layer.max_positions,
                                       .seed = static_cast<std::uint64_t>(n[4])}));
       },
       true},
      // Normalisers.
      {"softmax",
       Role::normaliser,
       "the default",
       {},
       [](Numbers, const Layer&, LayerAttention& made) { made.spec.normaliser = Normaliser::softmax(); }},
      {"sinks",
       Role::normaliser,
       "softmax with a learned logit for each head that takes weight and gives no value",
       {},
       sinks},
      {"sigmoid",
       Role::normaliser,
       "each weight by itself (Ramapuram et al. 2024)",
       {},
       [](Numbers, const Layer&, LayerAttention& made) { made.spec.normaliser = Normaliser::sigmoid(); }},
      {"sparsemax",
       Role::normaliser,
       "weights that may be zero (Martins and Astudillo 2016)",
       {},
       [](Numbers, const Layer&, LayerAttention& made) { made.spec.normaliser = Normaliser::sparsemax(); }},
      {"entmax15",
       Role::normaliser,
       "between softmax and sparsemax (Peters et al. 2019)",
       {},
       [](Numbers, const Layer&, LayerAttention& made) { made.spec.normaliser = Normaliser::entmax15(); }},
      {"sum",
       Role::normaliser,
       "scores divided by their sum, for linear attention's",
       {},
       [](Numbers, const Layer&, LayerAttention& made) { made.spec.normaliser = Normaliser::sum(); }},
  };
}

}  // namespace

std::span<const AttentionTerm> attention_terms() {
  static const std::vector<AttentionTerm> terms = all_terms();
  return terms;
}

}  // namespace heed
