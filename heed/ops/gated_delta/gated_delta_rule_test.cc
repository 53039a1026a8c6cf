#include "heed/ops/gated_delta/gated_delta_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using testing::weighted_sum;

constexpr Index kBatch = 2, kHeads = 4, kStates = 2, kWidth = 3, kValueWidth = 9;

// What a rule is given.
struct Rule {
  const char* name;
  int decay_rank;  // 0: none
  bool beta;
  bool erase;
};
constexpr Rule kRules[] = {{"linear", 0, false, false},         {"gated", 4, false, false},
                           {"gated per head", 3, false, false}, {"delta", 0, true, false},
                           {"gated delta", 4, true, false},     {"gated delta per head", 3, true, false},
                           {"delta with erase", 0, true, true}, {"gated delta with erase", 4, true, true}};

struct Operands {
  Tensor q, k, v, decay, beta, erase, state;
  operator GatedDeltaRule() const { return {q, k, v, decay, beta, erase, state}; }  // NOLINT: operands are used as such
};

// Negative, as a model's is: a state that grew would drown the finite differences in rounding.
Tensor random_decay(DType dtype, std::initializer_list<Index> shape) {
  const Tensor decay = random_tensor(DType::f64, shape, 4, 0.4);
  for (Index i = 0; i < decay.size(); ++i) decay.data<double>()[i] = -std::abs(decay.data<double>()[i]);
  return decay.to(dtype);
}

Operands make_operands(const Rule& rule, DType dtype, Index length) {
  Operands x;
  x.q = random_tensor(dtype, {kBatch, kHeads, length, kWidth}, 1);
  x.k = random_tensor(dtype, {kBatch, kStates, length, kWidth}, 2, 0.6);
  x.v = random_tensor(dtype, {kBatch, kStates, length, kValueWidth}, 3);
  if (rule.decay_rank == 3) x.decay = random_decay(dtype, {kBatch, kStates, length});
  if (rule.decay_rank == 4) x.decay = random_decay(dtype, {kBatch, kStates, length, kWidth});
  if (rule.beta) x.beta = random_tensor(dtype, {kBatch, kStates, length}, 5, 0.5);
  if (rule.erase) x.erase = random_tensor(dtype, {kBatch, kStates, length, kWidth}, 6);
  x.state = random_tensor(dtype, {kBatch, kStates, kWidth, kValueWidth}, 7);
  return x;
}

struct Results {
  Tensor out, state;
  Results(DType dtype, Index length)
      : out(Tensor::empty(dtype, {kBatch, kHeads, length, kValueWidth})),
        state(Tensor::empty(dtype, {kBatch, kStates, kWidth, kValueWidth})) {}
  operator GatedDeltaResult() const { return {out, state}; }  // NOLINT
};

// The logarithm of what is kept at step t of feature d.
double decay_at(const Operands& x, Index b, Index s, Index t, Index d) {
  if (x.decay.is_empty()) return 0;
  return x.decay.rank() == 3 ? x.decay.at<double>({b, s, t}) : x.decay.at<double>({b, s, t, d});
}

// The state after each token as a sum over what the tokens wrote, each decayed by all that came later, and not as a
// recurrence: S_t[d, m] = e^(g_1 + ... + g_t) S_0 + sum over s <= t of e^(g_(s+1) + ... + g_t) k_s[d] written_s[m].
struct Definition {
  const Operands& x;
  Index b, s;
  std::vector<std::vector<double>> written = {};

  double state(Index t, Index d, Index m, bool before_writing) const {
    double sum = 0, kept = 0;
    for (Index at = t; at >= 0; --at) {
      if (at < t || !before_writing) {
        sum += std::exp(kept) * x.k.at<double>({b, s, at, d}) *
               written[static_cast<std::size_t>(at)][static_cast<std::size_t>(m)];
      }
      kept += decay_at(x, b, s, at, d);
    }
    return sum + std::exp(kept) * x.state.at<double>({b, s, d, m});
  }

  void write(Index t) {
    std::vector<double> values;
    for (Index m = 0; m < kValueWidth; ++m) {
      double value = x.v.at<double>({b, s, t, m});
      if (!x.beta.is_empty()) {
        for (Index d = 0; d < kWidth; ++d) {
          const double erase = x.erase.is_empty() ? 1 : x.erase.at<double>({b, s, t, d});
          value -= erase * x.k.at<double>({b, s, t, d}) * state(t, d, m, true);
        }
        value *= x.beta.at<double>({b, s, t});
      }
      values.push_back(value);
    }
    written.push_back(values);
  }
};

TEST(GatedDeltaRule, EveryRuleIsItsDefinition) {
  const Index length = 6;
  for (const Rule& rule : kRules) {
    SCOPED_TRACE(rule.name);
    const Operands x = make_operands(rule, DType::f64, length);
    const Results y(DType::f64, length), expected(DType::f64, length);
    Workspace workspace;
    gated_delta_rule(x, y, workspace);
    for (Index b = 0; b < kBatch; ++b) {
      for (Index h = 0; h < kHeads; ++h) {
        Definition definition{x, b, h / (kHeads / kStates)};
        for (Index t = 0; t < length; ++t) {
          definition.write(t);
          for (Index m = 0; m < kValueWidth; ++m) {
            double sum = 0;
            for (Index d = 0; d < kWidth; ++d) {
              sum += x.q.at<double>({b, h, t, d}) * definition.state(t, d, m, false);
              if (t == length - 1)
                expected.state.at<double>({b, definition.s, d, m}) = definition.state(t, d, m, false);
            }
            expected.out.at<double>({b, h, t, m}) = sum / std::sqrt(static_cast<double>(kWidth));
          }
        }
      }
    }
    EXPECT_LT(largest_difference(y.out, expected.out), 1e-13);
    EXPECT_LT(largest_difference(y.state, expected.state), 1e-13);
  }
}

// Over seven tokens, the states are computed again in segments of two, the last one shorter.
TEST(GatedDeltaRule, GradientsMatchFiniteDifferences) {
  Workspace workspace;
  for (const Rule& rule : kRules) {
    for (Index length : {0, 1, 7}) {
      SCOPED_TRACE(rule.name + std::string(", ") + std::to_string(length));
      const Operands x = make_operands(rule, DType::f64, length);
      const Results y(DType::f64, length);
      const Tensor dout = random_tensor(DType::f64, {kBatch, kHeads, length, kValueWidth}, 8);
      const Tensor dstate = random_tensor(DType::f64, {kBatch, kStates, kWidth, kValueWidth}, 9);
      GatedDeltaRule operands = x;
      operands.scale = 0.7;
      const auto loss = [&] {
        gated_delta_rule(operands, y, workspace);
        return weighted_sum(y.out, dout) + weighted_sum(y.state, dstate);
      };
      const auto like = [](const Tensor& t) { return t.is_empty() ? Tensor() : Tensor::empty_like(t.view()); };
      const Operands g{like(x.q), like(x.k), like(x.v), like(x.decay), like(x.beta), like(x.erase), like(x.state)};
      gated_delta_rule_backward(operands, dout, dstate, {g.q, g.k, g.v, g.decay, g.beta, g.erase, g.state}, workspace);
      for (Tensor Operands::*each : {&Operands::q, &Operands::k, &Operands::v, &Operands::decay, &Operands::beta,
                                     &Operands::erase, &Operands::state}) {
        if ((x.*each).is_empty()) continue;
        EXPECT_LT(gradient_error(loss, x.*each, (g.*each).view()), 1e-7);
      }
    }
  }
}

TEST(GatedDeltaRule, GradientsThatAreNotWantedChangeNoOther) {
  const Operands x = make_operands(kRules[4], DType::f64, 5);
  const Tensor dout = random_tensor(DType::f64, {kBatch, kHeads, 5, kValueWidth}, 8);
  const Tensor dk = Tensor::empty_like(x.k), alone = Tensor::empty_like(x.k), dq = Tensor::empty_like(x.q),
               dbeta = Tensor::empty_like(x.beta), ddecay = Tensor::empty_like(x.decay);
  Workspace workspace;
  gated_delta_rule_backward(x, dout, {}, {.dq = dq, .dk = dk, .ddecay = ddecay, .dbeta = dbeta}, workspace);
  gated_delta_rule_backward(x, dout, {}, {.dk = alone}, workspace);
  EXPECT_TRUE(same_bits(dk, alone));
}

// What DeltaNet is for: a key of length one that is written with beta = 1 reads back its value, whatever was there.
TEST(GatedDeltaRule, TheDeltaRuleReplacesWhatAKeyHolds) {
  const Operands x = make_operands(kRules[3], DType::f64, 5);
  fill(x.beta, 1);
  for (Index row = 0; row < x.k.size() / kWidth; ++row) {
    double* k = x.k.data<double>() + row * kWidth;
    const double norm = std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    for (Index d = 0; d < kWidth; ++d) k[d] /= norm;
  }
  GatedDeltaRule operands = x;
  operands.q = x.k;  // Hk query heads
  operands.scale = 1;
  const Tensor out = Tensor::empty_like(x.v);
  Workspace workspace;
  gated_delta_rule(operands, {.out = out}, workspace);
  EXPECT_LT(largest_difference(out, x.v), 1e-14);
}

TEST(GatedDeltaRule, ASequenceMayBeCutAnywhere) {
  const Index length = 7;
  Workspace workspace;
  for (const Rule& rule : kRules) {
    SCOPED_TRACE(rule.name);
    const Operands x = make_operands(rule, DType::f32, length);
    const Results whole(DType::f32, length);
    gated_delta_rule(x, whole, workspace);
    for (Index cut = 0; cut <= length; ++cut) {
      const Results y(DType::f32, length);
      copy(x.state, y.state);
      for (const auto& [begin, end] : {std::pair{Index{0}, cut}, std::pair{cut, length}}) {
        const auto part = [&, begin = begin, end = end](const Tensor& t) {
          return t.is_empty() ? View() : slice(t.view(), 2, begin, end);
        };
        gated_delta_rule({part(x.q), part(x.k), part(x.v), part(x.decay), part(x.beta), part(x.erase), y.state},
                         {part(y.out), y.state}, workspace);  // the state in place
      }
      EXPECT_TRUE(same_bits(y.out, whole.out) && same_bits(y.state, whole.state)) << "cut at " << cut;
    }
  }
}

// As a projection gives them: [B, L, H * D] read as heads, and [B, L, Hk] transposed.
TEST(GatedDeltaRule, ReadsAndWritesStridedViews) {
  const Index length = 5;
  const Operands x = make_operands(kRules[5], DType::f32, length);
  const Results expected(DType::f32, length);
  Workspace workspace;
  gated_delta_rule(x, expected, workspace);
  const auto project = [&](const Tensor& heads, Index count) {
    const Tensor projected = Tensor::empty(DType::f32, {kBatch, length, count * heads.dim(3)});
    copy(heads, split_heads(projected.view(), count));
    return projected;
  };
  const Tensor q = project(x.q, kHeads), k = project(x.k, kStates), v = project(x.v, kStates);
  const Tensor decay = Tensor::copy_of(transpose(x.decay.view(), 1, 2));
  const Tensor beta = Tensor::copy_of(transpose(x.beta.view(), 1, 2));
  const Tensor out = Tensor::empty(DType::f32, {kBatch, length, kHeads * kValueWidth});
  gated_delta_rule({.q = split_heads(q.view(), kHeads),
                    .k = split_heads(k.view(), kStates),
                    .v = split_heads(v.view(), kStates),
                    .decay = transpose(decay.view(), 1, 2),
                    .beta = transpose(beta.view(), 1, 2),
                    .state = x.state},
                   {.out = split_heads(out.view(), kHeads)}, workspace);
  EXPECT_TRUE(same_bits(Tensor::copy_of(split_heads(out.view(), kHeads)), expected.out));
}

// The sums are in f32, with a state in f32 or in 16 bits: only what is stored is rounded.
TEST(GatedDeltaRule, SixteenBitsAreStorageOnly) {
  const Index length = 5;
  Workspace workspace;
  for (DType dtype : {DType::bf16, DType::f16}) {
    for (DType state_dtype : {DType::f32, dtype}) {
      Operands x = make_operands(kRules[7], dtype, length);
      x.state = x.state.to(state_dtype);
      Operands wide;
      for (Tensor Operands::*each : {&Operands::q, &Operands::k, &Operands::v, &Operands::decay, &Operands::beta,
                                     &Operands::erase, &Operands::state}) {
        wide.*each = (x.*each).to(DType::f32);
      }
      const Results y(dtype, length), expected(DType::f32, length);
      const Tensor state = Tensor::empty(state_dtype, {kBatch, kStates, kWidth, kValueWidth});
      gated_delta_rule(x, {.out = y.out, .state = state}, workspace);
      gated_delta_rule(wide, expected, workspace);
      EXPECT_TRUE(same_bits(y.out, expected.out.to(dtype)) && same_bits(state, expected.state.to(state_dtype)));
      const Tensor dk = Tensor::empty_like(x.k), wide_dk = Tensor::empty_like(wide.k);
      gated_delta_rule_backward(x, y.out, state, {.dk = dk}, workspace);
      gated_delta_rule_backward(wide, y.out.to(DType::f32), state.to(DType::f32), {.dk = wide_dk}, workspace);
      EXPECT_TRUE(same_bits(dk, wide_dk.to(dtype)));
    }
  }
}

TEST(GatedDeltaRule, ADecayOfMinusInfinityForgets) {
  const Operands x = make_operands(kRules[5], DType::f64, 6);
  Workspace workspace;
  for (Index b = 0; b < kBatch; ++b) {
    for (Index s = 0; s < kStates; ++s) x.decay.at<double>({b, s, 3}) = -std::numeric_limits<double>::infinity();
  }
  const Results y(DType::f64, 6), late(DType::f64, 3);
  gated_delta_rule(x, y, workspace);
  const auto rest = [](const Tensor& t) { return slice(t.view(), 2, 3, 6); };
  const Tensor decay = Tensor::copy_of(rest(x.decay));
  gated_delta_rule({.q = rest(x.q), .k = rest(x.k), .v = rest(x.v), .decay = decay, .beta = rest(x.beta)}, late,
                   workspace);
  EXPECT_LT(largest_difference(rest(y.out), late.out), 1e-15);
  EXPECT_LT(largest_difference(y.state, late.state), 1e-15);
  const Tensor dstate = Tensor::empty_like(x.state), ddecay = Tensor::empty_like(x.decay);
  gated_delta_rule_backward(x, y.out, y.state, {.ddecay = ddecay, .dstate = dstate}, workspace);
  for (Index i = 0; i < ddecay.size(); ++i) EXPECT_TRUE(std::isfinite(ddecay.data<double>()[i]));
}

TEST(GatedDeltaRule, ThreadsAndTheBatchChangeNoBit) {
  const Index length = 40;
  const Operands x = make_operands(kRules[4], DType::f32, length);
  const Results y(DType::f32, length), z(DType::f32, length);
  const Tensor dq = Tensor::empty_like(x.q), dv = Tensor::empty_like(x.v);
  const Tensor other_dq = Tensor::empty_like(x.q), other_dv = Tensor::empty_like(x.v);
  Workspace workspace;
  const int saved = thread_count();
  set_thread_count(3);
  gated_delta_rule(x, y, workspace);
  gated_delta_rule_backward(x, y.out, y.state, {.dq = dq, .dv = dv}, workspace);
  set_thread_count(1);
  for (Index b = 0; b < kBatch; ++b) {
    const auto one = [b](const Tensor& t) { return slice(t.view(), 0, b, b + 1); };
    const GatedDeltaRule alone{
        .q = one(x.q), .k = one(x.k), .v = one(x.v), .decay = one(x.decay), .beta = one(x.beta), .state = one(x.state)};
    gated_delta_rule(alone, {one(z.out), one(z.state)}, workspace);
    gated_delta_rule_backward(alone, one(z.out), one(z.state), {.dq = one(other_dq), .dv = one(other_dv)}, workspace);
  }
  set_thread_count(saved);
  EXPECT_TRUE(same_bits(y.out, z.out) && same_bits(y.state, z.state));
  EXPECT_TRUE(same_bits(dq, other_dq) && same_bits(dv, other_dv));
}

TEST(GatedDeltaRule, RefusesWhatDoesNotFit) {
  Workspace workspace;
  const Operands x = make_operands(kRules[7], DType::f32, 5);
  const Results y(DType::f32, 5);
  const auto refused = [&](auto&& change) {
    GatedDeltaRule operands = x;
    change(operands);
    return refusal([&] { gated_delta_rule(operands, y, workspace); });
  };
  EXPECT_EQ(refused([](GatedDeltaRule&) {}), "no error");
  EXPECT_EQ(refused([&](GatedDeltaRule& o) { o.beta = x.k; }),
            "gated_delta_rule: beta must be floating [2, 2, 5], but is f32 [2, 2, 5, 3]");
  EXPECT_EQ(refused([](GatedDeltaRule& o) { o.beta = {}; }),
            "gated_delta_rule: erase is a part of the delta rules, which need beta");
  for (const std::string& message :
       {refused([](GatedDeltaRule& o) { o.k = {}; }), refused([&](GatedDeltaRule& o) { o.k = x.q; }),
        refused([&](GatedDeltaRule& o) { o.decay = x.q; }), refused([&](GatedDeltaRule& o) { o.erase = x.beta; }),
        refused([&](GatedDeltaRule& o) { o.state = x.k; }),
        refused([&](GatedDeltaRule& o) { o.v = slice(x.v.view(), 2, 0, 4); }),
        refused([&](GatedDeltaRule& o) { o.q = slice(x.q.view(), 1, 0, 3); })}) {
    EXPECT_TRUE(message.starts_with("gated_delta_rule: ")) << message;
  }
  EXPECT_THROW(gated_delta_rule(x, {.out = x.v}, workspace), Error);
  EXPECT_THROW(gated_delta_rule(x, {.state = x.v}, workspace), Error);
  const Tensor square = Tensor::zeros(DType::f32, {1, 1, 4, 4});  // Dk = Dv, so that any operand could be the output
  EXPECT_EQ(refusal([&] {
              gated_delta_rule({.q = square, .k = square, .v = square}, {.out = square}, workspace);
            }).substr(0, 33),
            "gated_delta_rule: out overlaps q:");
  EXPECT_THROW(gated_delta_rule_backward(x, {}, {}, {}, workspace), Error);
  EXPECT_THROW(gated_delta_rule_backward(x, y.out, y.out, {}, workspace), Error);
  EXPECT_THROW(gated_delta_rule_backward(x, y.out, {}, {.ddecay = x.beta}, workspace), Error);
  const Operands plain = make_operands(kRules[0], DType::f32, 5);
  EXPECT_THROW(gated_delta_rule_backward(plain, y.out, {}, {.dbeta = x.beta}, workspace), Error);
}

}  // namespace
}  // namespace heed
