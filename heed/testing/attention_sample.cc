#include "heed/testing/attention_sample.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/random.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_mask_choice.h"
#include "heed/testing/gradient_check.h"

namespace heed::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  Index batch, heads, key_heads, queries, keys, width, value_width;
};

// Mostly a few dozen rows and keys; where one side reaches past the tiles' block edges at 64 and 512, the rest is
// small.
Sizes choose_sizes(Choices& choices) {
  Sizes s{};
  const Index reach = choices.below(64);
  const bool wide = reach >= 62, far = reach == 63;
  s.batch = wide ? 1 : choices.of({1, 2, 3});
  s.key_heads = wide ? 1 : choices.of({1, 2});
  s.heads = s.key_heads * choices.of({1, 2, 3});
  const auto length = [&] {
    return choices.one_in(2) ? 1 + choices.below(40) : choices.of({1, 2, 5, 8, 16, 3, 7, 13});
  };
  s.queries = choices.one_in(48) ? 0 : length(), s.keys = choices.one_in(24) ? 0 : length();
  if (wide) {
    const Index longer = far ? 505 + choices.below(20) : choices.of({64, 63, 65, 128, 140, 150});
    (choices.one_in(2) ? s.queries : s.keys) = longer;
    if (!far && choices.one_in(4)) s.queries = s.keys = longer;
  } else if (choices.one_in(4)) {
    s.keys = s.queries;
  }
  s.width = wide ? choices.of({1, 4, 7}) : choices.of({1, 4, 8, 3, 5, 16, 31});
  s.value_width = choices.one_in(3) ? s.width : choices.of({1, 4, 8, 6, 17});
  if (!wide && s.queries <= 8 && choices.one_in(8)) s.width = choices.of({64, 65, 128});
  constexpr Index kMostWork = 1 << 16;  // multiply-adds of the scores
  const auto work = [&] { return s.batch * s.heads * s.queries * s.keys * (s.width + s.value_width); };
  if (work() > kMostWork) s.batch = 1;
  if (work() > kMostWork) s.key_heads = 1, s.heads = std::min<Index>(s.heads, 2);
  return s;
}

class ProblemMaker {
 public:
  explicit ProblemMaker(Choices& choices)
      : choices_(choices), size_(choose_sizes(choices)), seed_(choices.seed() * 64) {}

  AttentionSample make() {
    choose_types();
    choose_score();
    choose_normaliser();
    // Linear attention as it is used, and as its own plan takes it: a window to the right and key lengths, no more.
    const bool linear = p_.spec.normaliser.kind == Normaliser::Kind::sum && !choices_.one_in(4);
    if (!linear) choose_bias();
    p_.spec.mask = choose_mask(choices_, {size_.batch, size_.heads, size_.queries, size_.keys});
    if (linear) {
      p_.spec.mask.patterns.clear();
      if (p_.spec.mask.window) p_.spec.mask.window = Window{.right = p_.spec.mask.window->right};
    }
    if (!linear && choices_.one_in(4)) {
      p_.spec.dropout = {.probability = choices_.of({0.1, 0.5}), .seed = choices_.seed(), .stream = 3};
    }
    p_.layout = choices_.of({RowLayout::heads_first, RowLayout::length_first, RowLayout::spaced, RowLayout::packed});
    p_.stage = choices_.of({ScoreStage::capped, ScoreStage::raw, ScoreStage::masked});
    if (choices_.one_in(4)) choose_pages();
    if (p_.page == 0 && choices_.one_in(6)) {
      meet_another_mask(choices_, {size_.batch, size_.heads, size_.queries, size_.keys}, linear, p_.spec.mask);
    }
    p_.bind();
    stay_off_the_kinks();
    return p_;
  }

 private:
  Tensor numbers(DType dtype, std::initializer_list<Index> shape, double scale = 1) {
    return random_tensor(dtype, shape, ++seed_, scale);
  }
  Index axis(Index extent) { return choices_.one_in(2) ? extent : 1; }

  void choose_types() {
    const auto& s = size_;
    const DType q = choices_.of({DType::f32, DType::f32, DType::f32, DType::bf16, DType::f16});
    DType k = q, v = q;
    if (q == DType::f32 && choices_.one_in(4)) {  // a cache of 16 bits
      k = choices_.of({DType::bf16, DType::f16});
      v = choices_.of({k, k, DType::f32});
    }
    const double spread = choices_.of({1.0, 0.3});
    p_.q = numbers(q, {s.batch, s.heads, s.queries, s.width}, spread);
    p_.k = numbers(k, {s.batch, s.key_heads, s.keys, s.width}, spread);
    p_.v = numbers(v, {s.batch, s.key_heads, s.keys, s.value_width});
    p_.dout = numbers(q, {s.batch, s.heads, s.queries, s.value_width});
    if (choices_.one_in(3)) p_.drow_stat = numbers(DType::f32, {s.batch, s.heads, s.queries});
  }

  void choose_score() {
    Score& score = p_.spec.score;
    using Kind = Score::Kind;
    score.kind =
        choices_.of({Kind::dot, Kind::additive, Kind::cosine, Kind::feature_map, Kind::dot, Kind::squared_distance,
                     Kind::additive, Kind::dot, Kind::feature_map, Kind::cosine, Kind::dot, Kind::squared_distance});
    switch (score.kind) {
      case Kind::additive:
        p_.vector = numbers(DType::f32, {size_.width});
        break;
      case Kind::feature_map:
        choose_features();
        break;
      case Kind::cosine:
        score.scale = choices_.of({1.0, 5.0, -2.0});
        break;
      case Kind::squared_distance:
        // They grow with the width: one of a hundred would leave nothing but a sink.
        if (choices_.one_in(3)) {
          score.scale = choices_.of({0.4, -0.4, 0.0}) * std::min(1.0, 16.0 / static_cast<double>(size_.width));
        }
        break;
      case Kind::dot:
        if (choices_.one_in(3)) score.scale = choices_.of({0.4, -0.4, 0.0});
    }
  }

  void choose_features() {
    using Kind = FeatureMap::Kind;
    FeatureMap& map = p_.spec.score.feature_map;
    map.kind = choices_.of({Kind::elu_plus_one, Kind::relu, Kind::positive_random});
    // Sums of positive products grow with the width.
    if (map.kind != Kind::positive_random) p_.spec.score.scale = 1.0 / static_cast<double>(size_.width);
    if (map.kind == Kind::positive_random) {
      p_.projection = Tensor::empty(DType::f32, {choices_.of({4, 1, 9}), size_.width});
      orthogonal_random_features(p_.projection, choices_.seed());
    }
  }

  void choose_normaliser() {
    using Kind = Normaliser::Kind;
    Normaliser& normaliser = p_.spec.normaliser;
    if (!p_.projection.is_empty()) {
      normaliser.kind = Kind::sum;  // its scores are exponentials already, some of them in the thousands
    } else if (p_.spec.score.kind == Score::Kind::feature_map) {
      normaliser.kind = choices_.of({Kind::sum, Kind::sum, Kind::softmax, Kind::sigmoid});
    } else {
      const Kind other = choices_.of({Kind::sigmoid, Kind::sparsemax, Kind::entmax15});
      normaliser.kind = choices_.one_in(2) ? other : Kind::softmax;
    }
    if (normaliser.kind == Kind::softmax && choices_.one_in(4)) p_.sinks = numbers(DType::f32, {size_.heads});
  }

  void choose_bias() {
    Bias& bias = p_.spec.bias;
    const bool positive = p_.spec.normaliser.kind == Normaliser::Kind::sum;
    if (choices_.one_in(4)) bias.soft_cap = choices_.of({2.0, 0.7, 20.0});
    if (choices_.one_in(positive ? 8 : 3)) choose_dense(positive);
    if (positive) return;
    if (choices_.one_in(6)) {
      p_.alibi = Tensor::empty(DType::f32, {size_.heads});
      alibi_slopes(p_.alibi);
    }
    if (choices_.one_in(6)) {
      bias.relative.bidirectional = choices_.one_in(2);
      const Index buckets = choices_.of({4, 8, 32});
      p_.relative = numbers(DType::f32, {buckets, size_.heads});
      bias.relative.max_distance = buckets + choices_.below(60);
    }
    if (choices_.one_in(6)) {
      p_.centre = numbers(DType::f32, {axis(size_.batch), axis(size_.heads), size_.queries});
      const double keys = static_cast<double>(size_.keys);
      for (Index i = 0; i < p_.centre.size(); ++i) {
        float& x = p_.centre.data<float>()[i];
        x = static_cast<float>(keys / 2 + x * keys / 4);
      }
      bias.gaussian.sigma = std::max(1.0, keys / choices_.of({8.0, 2.0}));
    }
  }

  // Every broadcast, now and then with keys refused by -inf.
  void choose_dense(bool positive) {
    const DType type = choices_.of({DType::f32, DType::f32, DType::bf16, DType::f16});
    const Tensor dense =
        numbers(DType::f32, {axis(size_.batch), axis(size_.heads), axis(size_.queries), axis(size_.keys)});
    const bool holes = choices_.one_in(3);
    Rng rng(seed_);
    for (Index i = 0; i < dense.size(); ++i) {
      float& x = dense.data<float>()[i];
      if (positive) x = std::abs(x);
      if (holes && rng.below(6) == 0) x = static_cast<float>(-kInfinity);
    }
    p_.dense = type == DType::f32 ? dense : dense.to(type);
  }

  // Pages need key lengths, and every key to lie in one. What lies in no page reads as zero.
  void choose_pages() {
    const Index page = choices_.of({1, 4, 16});
    const ConstView lengths = p_.spec.mask.lengths.view();
    if (lengths.empty() || size_.keys == 0 || size_.keys % page != 0) return;
    p_.page = page;
    const MaskRows mask(p_.spec.mask, {size_.batch, size_.heads, size_.queries, size_.keys});
    for (Index b = 0; b < size_.batch; ++b) {
      const Index held = round_up(mask.length(b), page);
      fill(slice(select(p_.k.view(), 0, b), 1, held, size_.keys), 0);
    }
  }

  void stay_off_the_kinks() {
    if (p_.spec.normaliser.kind != Normaliser::Kind::sparsemax) return;
    constexpr double kMargin = 0x1p-14;  // some hundred roundings of a score of f32
    const AttentionSample exact = p_.in_f64();
    const AttentionProblem c = make_attention_problem("random_attention_sample", exact.q, exact.k, exact.v, exact.spec);
    const Tensor stat = Tensor::empty(DType::f64, {c.batch, c.heads, c.queries});
    const Tensor scores = Tensor::empty(DType::f64, {c.batch, c.heads, c.queries, c.keys});
    Workspace workspace;
    attention_plans().back().forward(c, {.row_stat = stat, .scores = scores, .score_stage = ScoreStage::masked},
                                     workspace);
    for (Index i = 0; i < scores.size(); ++i) {
      const double score = scores.data<double>()[i], tau = stat.data<double>()[i / c.keys];
      if (std::abs(score - tau) < kMargin * std::max(1.0, std::abs(score))) {
        p_.spec.normaliser.kind = Normaliser::Kind::softmax;
        return;
      }
    }
  }

  Choices& choices_;
  const Sizes size_;
  std::uint64_t seed_;
  AttentionSample p_;
};

}  // namespace

void AttentionSample::bind() {
  spec.score.additive_vector = vector;
  spec.score.feature_map.projection = projection;
  spec.bias.dense = dense;
  spec.bias.alibi = alibi;
  spec.bias.relative.table = relative;
  spec.bias.gaussian.centre = centre;
  spec.normaliser.sinks = sinks;
}

AttentionSample AttentionSample::in_f64() const {
  AttentionSample other = *this;
  for (Tensor* tensor : {&other.q, &other.k, &other.v, &other.dout, &other.drow_stat, &other.vector, &other.projection,
                         &other.dense, &other.alibi, &other.relative, &other.centre, &other.sinks}) {
    if (!tensor->is_empty()) *tensor = tensor->to(DType::f64);
  }
  other.layout = RowLayout::heads_first;
  other.page = 0;
  other.bind();
  return other;
}

AttentionProblem problem_of(const AttentionSample& sample) {
  return make_attention_problem("test", sample.q, sample.k, sample.v, sample.spec);
}

AttentionSample random_attention_sample(Choices& choices) { return ProblemMaker(choices).make(); }

std::string describe(const AttentionSample& p) {
  constexpr const char* kScores[] = {"dot", "additive", "cosine", "squared_distance", "feature_map"};
  constexpr const char* kNormalisers[] = {"softmax", "sigmoid", "sparsemax", "entmax15", "sum"};
  constexpr const char* kLayouts[] = {"heads first", "length first", "spaced", "packed"};
  std::string text =
      fmt::format("q {}, k {}, v {}, {} (scale {}, map {}), {}, {}", describe(p.q), describe(p.k), describe(p.v),
                  kScores[static_cast<int>(p.spec.score.kind)], p.spec.score.scale.value_or(std::nan("")),
                  static_cast<int>(p.spec.score.feature_map.kind),
                  kNormalisers[static_cast<int>(p.spec.normaliser.kind)], kLayouts[static_cast<int>(p.layout)]);
  const auto add = [&](const char* name, const Tensor& tensor) {
    if (!tensor.is_empty()) text += fmt::format(", {} {}", name, describe(tensor));
  };
  add("dense", p.dense), add("alibi", p.alibi), add("relative", p.relative), add("centre", p.centre);
  add("sinks", p.sinks), add("drow_stat", p.drow_stat);
  if (p.spec.bias.soft_cap) text += fmt::format(", cap {}", *p.spec.bias.soft_cap);
  if (p.spec.mask.window) text += ", window";
  if (p.spec.mask.lengths) text += ", key lengths";
  if (!p.spec.mask.further.empty()) text += fmt::format(", {} further intervals", p.spec.mask.further.size());
  text += fmt::format(", anchor {}, {} patterns", static_cast<int>(p.spec.mask.anchor), p.spec.mask.patterns.size());
  if (p.spec.dropout.probability > 0) text += ", dropout";
  if (p.page > 0) text += fmt::format(", pages of {}", p.page);
  return text + fmt::format(", score stage {}", static_cast<int>(p.stage));
}

}  // namespace heed::testing
