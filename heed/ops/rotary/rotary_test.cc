#include "heed/ops/rotary/rotary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
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

constexpr RotaryPairing kPairings[] = {RotaryPairing::halves, RotaryPairing::interleaved};

RotaryAngles at(const RotaryTables& tables, Index offset = 0) {
  return {.cos = tables.cos, .sin = tables.sin, .offset = offset};
}

// x[h, i] with each pair turned by i theta, as complex numbers are: the definition, for one sequence.
Tensor definition(const Tensor& x, RotaryPairing pairing, const std::vector<double>& frequencies) {
  const Tensor y = x.clone();
  const Index pairs = static_cast<Index>(frequencies.size());
  for (Index h = 0; h < x.dim(1); ++h) {
    for (Index p = 0; p < x.dim(2); ++p) {
      for (Index i = 0; i < pairs; ++i) {
        const Index first = pairing == RotaryPairing::halves ? i : 2 * i;
        const Index second = pairing == RotaryPairing::halves ? i + pairs : 2 * i + 1;
        const double angle = static_cast<double>(p) * frequencies[static_cast<std::size_t>(i)];
        const double a = x.at<double>({0, h, p, first}), b = x.at<double>({0, h, p, second});
        y.at<double>({0, h, p, first}) = a * std::cos(angle) - b * std::sin(angle);
        y.at<double>({0, h, p, second}) = a * std::sin(angle) + b * std::cos(angle);
      }
    }
  }
  return y;
}

TEST(Rotary, TurnsEachPairOfTheWidthAndCopiesTheRest) {
  for (RotaryPairing pairing : kPairings) {
    for (Index width : {2, 4, 6}) {
      const Rotary options{.pairing = pairing, .width = width, .base = 50};
      const Tensor x = random_tensor(DType::f64, {1, 2, 5, 6}, 1), y = Tensor::empty_like(x);
      const RotaryTables tables = rotary_tables(options, 5, DType::f64);
      rotary(x, at(tables), pairing, y);
      EXPECT_LT(largest_difference(y, definition(x, pairing, rotary_frequencies(options))), 1e-15);
    }
  }
}

TEST(Rotary, TheProductOfTwoRowsDependsOnTheirDistanceAlone) {
  const RotaryTables tables = rotary_tables({.width = 8}, 300, DType::f64);
  const Tensor q = random_tensor(DType::f64, {1, 1, 1, 8}, 1), k = random_tensor(DType::f64, {1, 1, 1, 8}, 2);
  const auto product = [&](Index query, Index key) {
    const Tensor a = Tensor::empty_like(q), b = Tensor::empty_like(k);
    rotary(q, at(tables, query), RotaryPairing::halves, a);
    rotary(k, at(tables, key), RotaryPairing::halves, b);
    return weighted_sum(a, b);
  };
  for (Index distance : {0, 1, 7, 60}) {
    for (Index key : {0, 3, 200}) EXPECT_NEAR(product(key + distance, key), product(distance, 0), 1e-12);
  }
  EXPECT_GT(std::abs(product(7, 0) - product(0, 7)), 0.1);
}

TEST(Rotary, PositionsAreGivenByOffsetByIdsOrByGatheredAngles) {
  const RotaryTables tables = rotary_tables({.width = 4}, 20, DType::f64);
  const Tensor x = random_tensor(DType::f64, {2, 3, 4, 6}, 1), whole = random_tensor(DType::f64, {2, 3, 9, 6}, 2);
  const Tensor expected = Tensor::empty_like(x), y = Tensor::empty_like(x), all = Tensor::empty_like(whole);
  copy(x, slice(whole.view(), 2, 5, 9));
  rotary(whole, at(tables), RotaryPairing::halves, all);
  copy(slice(all.view(), 2, 5, 9), expected);

  rotary(x, at(tables, 5), RotaryPairing::halves, y);
  EXPECT_TRUE(same_bits(y, expected));
  const Tensor ids = Tensor::from<std::int64_t>({5, 6, 7, 8, 5, 6, 7, 8}, {2, 4});
  rotary(x, {.cos = tables.cos, .sin = tables.sin, .positions = ids}, RotaryPairing::halves, y);
  EXPECT_TRUE(same_bits(y, expected));
  const Tensor shared = Tensor::from<std::int32_t>({3, 4, 5, 6}, {1, 4});
  rotary(x, {.cos = tables.cos, .sin = tables.sin, .positions = shared, .offset = 2}, RotaryPairing::halves, y);
  EXPECT_TRUE(same_bits(y, expected));
  const Tensor cos = tables.cos.rows(5, 9).reshape({1, 4, 2}), sin = tables.sin.rows(5, 9).reshape({1, 4, 2});
  rotary(x, {.cos = cos, .sin = sin}, RotaryPairing::halves, y);
  EXPECT_TRUE(same_bits(y, expected));
}

TEST(Rotary, EachBatchElementHasItsOwnPositions) {
  const RotaryTables tables = rotary_tables({.width = 6}, 20, DType::f32);
  const Tensor x = random_tensor(DType::f32, {2, 1, 3, 6}, 1), y = Tensor::empty_like(x), one = Tensor::empty_like(x);
  const Tensor ids = Tensor::from<std::int64_t>({4, 4, 0, 19, 2, 1}, {2, 3});
  rotary(x, {.cos = tables.cos, .sin = tables.sin, .positions = ids}, RotaryPairing::interleaved, y);
  for (Index b = 0; b < 2; ++b) {
    for (Index i = 0; i < 3; ++i) {
      const auto row = [&](const Tensor& t) { return slice(slice(t.view(), 0, b, b + 1), 2, i, i + 1); };
      rotary(row(x), at(tables, ids.at<std::int64_t>({b, i})), RotaryPairing::interleaved, row(one));
    }
  }
  EXPECT_TRUE(same_bits(y, one));
}

TEST(Rotary, WorksInPlaceAndOnTheHeadsOfAProjection) {
  const RotaryTables tables = rotary_tables({.width = 4}, 5, DType::f32);
  const Tensor projected = random_tensor(DType::f32, {2, 5, 3 * 6}, 1),
               expected = Tensor::empty(DType::f32, {2, 3, 5, 6});
  const View heads = split_heads(projected.view(), 3);
  for (RotaryPairing pairing : kPairings) {
    rotary(Tensor::copy_of(heads), at(tables), pairing, expected);
    rotary(heads, at(tables), pairing, heads);
    EXPECT_TRUE(same_bits(Tensor::copy_of(heads), expected));
  }
}

TEST(Rotary, GradientMatchesFiniteDifferences) {
  const Tensor x = random_tensor(DType::f64, {2, 2, 3, 8}, 1), dy = random_tensor(DType::f64, {2, 2, 3, 8}, 2);
  const Tensor y = Tensor::empty_like(x), dx = Tensor::empty_like(x);
  for (RotaryPairing pairing : kPairings) {
    const Rotary options{.pairing = pairing, .width = 6, .scaling = RotaryScaling::yarn(4, 64)};
    const RotaryTables tables = rotary_tables(options, 12, DType::f64);
    rotary_backward(dy, at(tables, 9), pairing, dx);
    const auto loss = [&] { return rotary(x, at(tables, 9), pairing, y), weighted_sum(y, dy); };
    EXPECT_LT(gradient_error(loss, x, dx), 1e-8);
  }
}

TEST(Rotary, TheTurnBackIsTheInverse) {
  const Tensor x = random_tensor(DType::f64, {2, 2, 3, 8}, 1), y = Tensor::empty_like(x);
  const RotaryTables tables = rotary_tables({.width = 8}, 3, DType::f64);
  for (RotaryPairing pairing : kPairings) {
    rotary(x, at(tables), pairing, y);
    rotary_backward(y, at(tables), pairing, y);
    EXPECT_LT(largest_difference(y, x), 1e-15);
  }
}

// With x and the tables exactly those of the 16-bit call, the f32 result rounded is the 16-bit result.
TEST(Rotary, SixteenBitRowsAreTurnedInF32AndRounded) {
  for (DType dtype : {DType::bf16, DType::f16}) {
    const Tensor x = random_tensor(dtype, {2, 2, 3, 8}, 1), y = Tensor::empty_like(x);
    const RotaryTables tables = rotary_tables({.width = 6}, 3, dtype);
    const Tensor wide = x.to(DType::f32), cos = tables.cos.to(DType::f32), sin = tables.sin.to(DType::f32);
    rotary(x, at(tables), RotaryPairing::halves, y);
    rotary(wide, {.cos = cos, .sin = sin}, RotaryPairing::halves, wide);
    EXPECT_TRUE(same_bits(y, wide.to(dtype)));
  }
}

TEST(Rotary, ThreadsAndTheBatchAroundARowChangeNoBit) {
  const RotaryTables tables = rotary_tables({.width = 64}, 200, DType::f32);
  const Tensor x = random_tensor(DType::f32, {3, 4, 200, 64}, 1), y = Tensor::empty_like(x), z = Tensor::empty_like(x);
  const int saved = thread_count();
  set_thread_count(1);
  for (Index b = 0; b < 3; ++b) rotary(x.rows(b, b + 1), at(tables), RotaryPairing::halves, y.rows(b, b + 1));
  set_thread_count(3);
  rotary(x, at(tables), RotaryPairing::halves, z);
  set_thread_count(saved);
  EXPECT_TRUE(same_bits(y, z));
}

TEST(Rotary, RefusesWhatDoesNotFit) {
  const RotaryTables tables = rotary_tables({.width = 4}, 10, DType::f32);
  const Tensor x = Tensor::zeros(DType::f32, {2, 1, 3, 6});
  const auto call = [&](const Tensor& operand, const RotaryAngles& angles) {
    return refusal([&] { rotary(operand, angles, RotaryPairing::halves, operand); });
  };
  EXPECT_EQ(call(x, at(tables, 8)), "rotary: position 10 of row 2 is outside the tables of 10 positions");
  EXPECT_EQ(call(x, at(tables, -1)), "rotary: position -1 of row 0 is outside the tables of 10 positions");
  const Tensor bad = Tensor::from<std::int32_t>({1, 0, 2, 3, -7, 2}, {2, 3});
  EXPECT_EQ(call(x, {.cos = tables.cos, .sin = tables.sin, .positions = bad}),
            "rotary: position -7 of row 1 is outside the tables of 10 positions");
  const auto refused = [&](const Tensor& operand, const RotaryAngles& angles) {
    return call(operand, angles).starts_with("rotary: ");
  };
  EXPECT_TRUE(refused(Tensor::zeros(DType::f32, {2, 1, 3, 3}), at(tables)));  // R > D
  EXPECT_TRUE(refused(Tensor::zeros(DType::f32, {2, 3, 6}), at(tables)));
  EXPECT_TRUE(refused(Tensor::zeros(DType::i32, {2, 1, 3, 6}), at(tables)));
  EXPECT_TRUE(refused(x, {}));
  EXPECT_TRUE(refused(x, {.cos = tables.cos, .sin = tables.sin.rows(0, 9)}));
  EXPECT_TRUE(refused(x, {.cos = tables.cos, .sin = tables.sin, .positions = Tensor::zeros(DType::i32, {2, 4})}));
  EXPECT_TRUE(refused(x, {.cos = tables.cos, .sin = tables.sin, .positions = Tensor::zeros(DType::f32, {2, 3})}));
  const Tensor gathered = Tensor::zeros(DType::f32, {2, 3, 2});
  EXPECT_FALSE(refused(x, {.cos = gathered, .sin = gathered}));
  EXPECT_TRUE(refused(x, {.cos = gathered, .sin = gathered, .offset = 1}));
  EXPECT_THROW(rotary(x, at(tables), RotaryPairing::halves, Tensor::zeros(DType::f64, {2, 1, 3, 6})), Error);
  EXPECT_THROW(rotary(transpose(x.view(), 2, 3), at(tables), RotaryPairing::halves, transpose(x.view(), 2, 3)), Error);
}

// The expected values are the papers' and the published models' formulas, evaluated apart from this library.
void expect_frequencies(const Rotary& rotary, const std::vector<std::pair<std::size_t, double>>& expected) {
  const std::vector<double> frequencies = rotary_frequencies(rotary);
  for (const auto& [i, value] : expected) EXPECT_NEAR(frequencies.at(i) / value, 1, 1e-13) << "pair " << i;
}

TEST(RotaryScaling, NoneLinearAndNtk) {
  expect_frequencies({.width = 64}, {{0, 1}, {8, 0.1}, {16, 0.01}, {24, 0.001}});
  expect_frequencies({.width = 64, .scaling = RotaryScaling::linear(4)}, {{0, 0.25}, {16, 0.0025}, {24, 0.00025}});
  expect_frequencies({.width = 64, .scaling = RotaryScaling::ntk(4)},
                     {{0, 1}, {1, 0.7170983281048126}, {16, 0.004889442681677164}, {31, 3.33380358040831e-05}});
}

TEST(RotaryScaling, Llama31) {
  expect_frequencies({.width = 128, .base = 500000, .scaling = RotaryScaling::llama3(8, 8192)},
                     {{20, 0.016560440080994446},   // its own
                      {28, 0.0032114459947525913},  // the last whose wave length is below 8192 / 4
                      {29, 0.002166570763503359},   // mixed
                      {31, 0.0008567514129196321},
                      {34, 0.00017850781276799638},
                      {35, 9.556212353964683e-05},  // the first whose wave length is above 8192: an eighth of its own
                      {63, 3.068925988914511e-07}});
}

TEST(RotaryScaling, YarnOfQwen) {
  const Rotary options{.width = 128, .base = 1e6, .scaling = RotaryScaling::yarn(4, 32768)};
  expect_frequencies(options, {{23, 0.006978305848598663},  // the last of its own
                               {24, 0.005375321490790102},
                               {31, 0.0008029597275452302},
                               {39, 6.490394320837028e-05},
                               {40, 4.445698525097307e-05},  // the first that is a quarter of its own
                               {63, 3.102344401879299e-07}});
  const RotaryTables tables = rotary_tables(options, 2, DType::f64);
  EXPECT_NEAR(tables.cos.at<double>({0, 5}), 1.138629436111989, 1e-14);
  EXPECT_NEAR(tables.sin.at<double>({1, 0}), 1.138629436111989 * std::sin(1.0), 1e-14);
}

TEST(RotaryScaling, LongRopeDividesEachPairByItsOwn) {
  const Rotary options{.width = 8, .scaling = RotaryScaling::longrope({1, 2, 5.5, 40}, 1.19)};
  const std::vector<double> plain = rotary_frequencies({.width = 8}), scaled = rotary_frequencies(options);
  EXPECT_EQ(scaled, (std::vector<double>{plain[0], plain[1] / 2, plain[2] / 5.5, plain[3] / 40}));
  const RotaryTables tables = rotary_tables(options, 3, DType::f64);
  EXPECT_DOUBLE_EQ(tables.cos.at<double>({2, 3}), 1.19 * std::cos(2 * plain[3] / 40));
  EXPECT_DOUBLE_EQ(tables.sin.at<double>({2, 0}), 1.19 * std::sin(2.0));
}

TEST(RotaryScaling, AFactorOfOneChangesNothing) {
  const std::vector<double> plain = rotary_frequencies({.width = 16});
  for (const RotaryScaling& scaling : {RotaryScaling::linear(1), RotaryScaling::ntk(1), RotaryScaling::llama3(1, 512),
                                       RotaryScaling::yarn(1, 512), RotaryScaling::longrope({})}) {
    const Rotary options{.width = 16, .scaling = scaling};
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_NEAR(rotary_frequencies(options).at(i) / plain[i], 1, 1e-15) << i;
    }
    EXPECT_EQ(rotary_tables(options, 1, DType::f64).cos.at<double>({0, 0}), 1);
  }
}

// Where every pair turns more often than fast_turns, or fewer times than slow_turns, there is nothing to mix.
TEST(RotaryScaling, AFactorBelowOneTurnsFasterAndSharpensNothing) {
  expect_frequencies({.width = 64, .scaling = RotaryScaling::linear(0.5)}, {{0, 2}, {16, 0.02}});
  EXPECT_EQ(RotaryScaling::yarn(1e-9, 512).attention_factor, 1);
}

TEST(RotaryScaling, YarnKeepsPairsThatAllTurnOften) {
  const std::vector<double> plain = rotary_frequencies({.width = 8, .base = 2});
  EXPECT_EQ(rotary_frequencies({.width = 8, .base = 2, .scaling = RotaryScaling::yarn(4, 1 << 20)}), plain);
}

TEST(RotaryScaling, RefusesOptionsWithoutMeaning) {
  const auto refused = [](const Rotary& rotary) {
    return refusal([&] { rotary_tables(rotary, 1, DType::f32); }).starts_with("rotary: ");
  };
  EXPECT_FALSE(refused({.width = 2}));
  EXPECT_TRUE(refused({.width = 0}));
  EXPECT_TRUE(refused({.width = 5}));
  EXPECT_TRUE(refused({.width = 4, .base = 1}));
  EXPECT_TRUE(refused({.width = 4, .scaling = RotaryScaling::linear(0)}));
  EXPECT_TRUE(refused({.width = 2, .scaling = RotaryScaling::ntk(2)}));
  EXPECT_TRUE(refused({.width = 4, .scaling = RotaryScaling::llama3(2, 0)}));
  EXPECT_TRUE(refused({.width = 4, .scaling = RotaryScaling::yarn(2, 100, 4, 4)}));
  EXPECT_TRUE(refused({.width = 4, .scaling = RotaryScaling::longrope({1})}));
  EXPECT_TRUE(refused({.width = 4, .scaling = RotaryScaling::longrope({1, 0})}));
  EXPECT_TRUE(refused({.width = 4, .scaling = RotaryScaling::longrope({1, 1}, 0)}));
  EXPECT_THROW(rotary_tables({.width = 4}, 3, DType::i32), Error);
}

}  // namespace
}  // namespace heed
