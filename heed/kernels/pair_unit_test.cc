#include "heed/kernels/pair_unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::random_floats;

std::vector<BFloat16> random_numbers(Index count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<BFloat16> x(static_cast<std::size_t>(count));
  for (BFloat16& number : x) number = to_bfloat16(static_cast<float>(rng.normal()));
  return x;
}

class PairUnitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (pair_units().empty()) GTEST_SKIP() << "this processor multiplies no bf16, or its SIMD target is forced lower";
  }
};

TEST_F(PairUnitTest, AProductIsThatOfTheMatrices) {
  for (const PairUnit& unit : pair_units())
    for (const auto& [m, n, k] : {std::array<Index, 3>{16, 16, 32}, {48, 80, 96}, {64, 64, 64}, {16, 48, 32}}) {
      SCOPED_TRACE(std::string(unit.name) + " " + std::to_string(m) + " " + std::to_string(n));
      const Index a_row = k + 2, b_row = n + 16, c_row = n + 3;
      const std::vector<BFloat16> a = random_numbers(m * a_row, 1), b = random_numbers(k * n, 2);
      std::vector<std::uint32_t> pairs(static_cast<std::size_t>(k / 2 * b_row));
      unit.pair_rows(b.data(), n, k, n, pairs.data(), b_row);
      const std::vector<float> before = random_floats(m * c_row, 3), decay = random_floats(n, 4);
      for (const bool accumulate : {false, true})
        for (const bool decays : {false, true}) {
          std::vector<float> c = before;
          unit.open();
          unit.multiply({.m = m,
                         .n = n,
                         .k = k,
                         .a = a.data(),
                         .a_row = a_row,
                         .b = pairs.data(),
                         .b_row = b_row,
                         .c = c.data(),
                         .c_row = c_row,
                         .accumulate = accumulate,
                         .decay = decays ? decay.data() : nullptr,
                         .alpha = 0.5f});
          unit.close();
          for (Index i = 0; i < m; ++i)
            for (Index j = 0; j < c_row; ++j) {
              const auto at = static_cast<std::size_t>(i * c_row + j);
              if (j >= n) {
                ASSERT_EQ(c[at], before[at]) << "beyond the columns";
                continue;
              }
              double sum = 0, magnitude = 0;
              for (Index p = 0; p < k; ++p) {
                const double term = double{to_float(a[static_cast<std::size_t>(i * a_row + p)])} *
                                    double{to_float(b[static_cast<std::size_t>(p * n + j)])};
                sum += term, magnitude += std::abs(term);
              }
              double wanted = 0.5 * sum;
              if (accumulate) wanted = sum + before[at] * (decays ? double{decay[static_cast<std::size_t>(j)]} : 1.0);
              ASSERT_NEAR(c[at], wanted, 1e-6 * (magnitude + std::abs(wanted) + 1)) << i << ", " << j;
            }
        }
    }
}

TEST_F(PairUnitTest, AnElementHasItsBitsInAnyProduct) {
  for (const PairUnit& unit : pair_units()) {
    constexpr Index kM = 64, kN = 64, kK = 64;
    const std::vector<BFloat16> a = random_numbers(kM * kK, 1), b = random_numbers(kK * kN, 2);
    std::vector<std::uint32_t> pairs(kK / 2 * kN);
    unit.pair_rows(b.data(), kN, kK, kN, pairs.data(), kN);
    std::vector<float> whole(kM * kN), part(16 * 16);
    PairProduct product{.m = kM,
                        .n = kN,
                        .k = kK,
                        .a = a.data(),
                        .a_row = kK,
                        .b = pairs.data(),
                        .b_row = kN,
                        .c = whole.data(),
                        .c_row = kN};
    unit.open();
    unit.multiply(product);
    for (Index i = 0; i < kM; i += 16)
      for (Index j = 0; j < kN; j += 16) {
        PairProduct one = product;
        one.m = one.n = 16, one.a += i * kK, one.b += j, one.c = part.data(), one.c_row = 16;
        unit.multiply(one);
        for (Index r = 0; r < 16; ++r)
          for (Index n = 0; n < 16; ++n) {
            ASSERT_EQ(part[static_cast<std::size_t>(r * 16 + n)],
                      whole[static_cast<std::size_t>((i + r) * kN + j + n)]);
          }
      }
    unit.close();
  }
}

// Rows of bf16 as they lie, with others behind them, and some rows of factors, all times a power of two.
struct FewRowsSample {
  static constexpr Index kRow = 320, kColumns = 64;
  explicit FewRowsSample(float power) {
    for (std::vector<BFloat16>* numbers : {&stored, &factors})
      for (BFloat16& number : *numbers) number = to_bfloat16(to_float(number) * power);
  }
  std::vector<BFloat16> stored = random_numbers(64 * kRow, 1), factors = random_numbers(16 * kRow, 2);

  StoredRows rows(Index count, Index width) const {
    return {.data = stored.data(),
            .dtype = DType::bf16,
            .count = count,
            .width = width,
            .row = kRow,
            .next = stored.data() + stored.size(),
            .next_bytes = count == 33 ? 1000 : 0};
  }
};

// Calls f(unit, sample, rows, count) for each unit, some counts of either, and numbers of two sizes: with the second,
// sums are about the smallest normal number, and those below it are zero.
template <typename F>
void for_few_rows_of_units(const F& f) {
  for (float power : {1.0f, 0x1p-65f}) {
    const FewRowsSample sample(power);
    for (const PairUnit& unit : pair_units()) {
      SCOPED_TRACE(std::string(unit.name) + " times " + std::to_string(power));
      for (Index rows : {1, 2, 3, 4, 5, 8})
        for (Index count : {1, 16, 33, 64}) f(unit, sample, rows, count);
    }
  }
}

TEST_F(PairUnitTest, ProductsOfFewRowsHaveTheBitsOfAProduct) {
  for_few_rows_of_units([](const PairUnit& unit, const FewRowsSample& x, Index rows, Index count) {
    for (Index width : {32, 96, 128, 288}) {
      std::vector<float> expected(16 * x.kColumns, 7), got = expected;
      std::vector<std::uint32_t> turned(static_cast<std::size_t>(width / 2 * x.kColumns));
      for (Index p = 0; p < width / 2; ++p)
        for (Index key = 0; key < x.kColumns; ++key)
          std::memcpy(&turned[static_cast<std::size_t>(p * x.kColumns + key)], &x.stored[key * x.kRow + 2 * p], 4);
      unit.open();
      unit.multiply({.m = round_up(rows, unit.rows),
                     .n = round_up(count, kPairRows),
                     .k = width,
                     .a = x.factors.data(),
                     .a_row = x.kRow,
                     .b = turned.data(),
                     .b_row = x.kColumns,
                     .c = expected.data(),
                     .c_row = x.kColumns,
                     .alpha = 0.3f});
      unit.open_few_rows(rows);
      unit.row_products(rows, x.factors.data(), x.kRow, x.rows(count, width), 0.3f, {got.data(), x.kColumns});
      unit.close();
      std::fill(expected.begin() + rows * x.kColumns, expected.end(), 7.0f);
      EXPECT_EQ(got, expected) << rows << " rows, " << count << " x " << width;
    }
  });
}

TEST_F(PairUnitTest, SumsOfFewRowsHaveTheBitsOfAProduct) {
  for_few_rows_of_units([](const PairUnit& unit, const FewRowsSample& x, Index rows, Index count) {
    const Index depth = round_up(count, kPairDepth), row = 144;
    std::vector<BFloat16> weights = x.factors;
    for (Index r = 0; r < 16; ++r) std::fill_n(weights.begin() + r * x.kRow + count, depth - count, BFloat16{});
    for (Index width : {16, 32, 80, 128})
      for (bool decays : {false, true}) {
        std::vector<std::uint32_t> pairs(static_cast<std::size_t>(depth / 2 * row));
        unit.pair_rows(x.stored.data(), x.kRow, count, width, pairs.data(), row);
        const std::vector<float> before = random_floats(16 * width, 3), decay = random_floats(16, 4);
        std::vector<float> expected = before, got = before;
        for (Index at = 0; decays && at < 16 * width; ++at) {
          expected[static_cast<std::size_t>(at)] *= decay[static_cast<std::size_t>(at / width)];
        }
        unit.open();
        unit.multiply({.m = round_up(rows, unit.rows),
                       .n = width,
                       .k = depth,
                       .a = weights.data(),
                       .a_row = x.kRow,
                       .b = pairs.data(),
                       .b_row = row,
                       .c = expected.data(),
                       .c_row = width,
                       .accumulate = decays});
        std::copy(before.begin() + rows * width, before.end(), expected.begin() + rows * width);
        unit.open_few_rows(rows);
        unit.row_sums(rows, weights.data(), x.kRow, x.rows(count, round_up(width, kPairDepth)),
                      decays ? decay.data() : nullptr, {got.data(), width});
        unit.close();
        EXPECT_EQ(got, expected) << rows << " rows, " << count << " x " << width;
      }
  });
}

TEST_F(PairUnitTest, FormsHaveZerosUpToTheirMultiples) {
  const PairUnit& unit = pair_units().front();
  for (const Index rows : {1, 2, 31, 33})
    for (const Index width : {1, 15, 16, 33, 40}) {
      const Index stride = width + 5, to_row = (width + 15) / 16 * 16, pairs = (rows + 31) / 32 * 16;
      const std::vector<BFloat16> x = random_numbers(rows * stride, 1);
      std::vector<std::uint32_t> to(static_cast<std::size_t>(pairs * to_row), 7);
      unit.pair_rows(x.data(), stride, rows, width, to.data(), to_row);
      const auto bits = [&](Index r, Index d) -> std::uint32_t {
        if (r >= rows || d >= width) return 0;
        return x[static_cast<std::size_t>(r * stride + d)].bits;
      };
      for (Index p = 0; p < pairs; ++p)
        for (Index d = 0; d < to_row; ++d) {
          ASSERT_EQ(to[static_cast<std::size_t>(p * to_row + d)], bits(2 * p, d) | bits(2 * p + 1, d) << 16)
              << rows << " x " << width << " at " << p << ", " << d;
        }
    }
}

TEST_F(PairUnitTest, FloatsAreRoundedToNearestEven) {
  const PairUnit& unit = pair_units().front();
  for (const Index rows : {1, 16, 33})
    for (const Index lanes : {16, 32, 48}) {
      std::vector<float> x = random_floats(rows * lanes, 5);
      x[0] = 1 + 1.0f / 256, x[1] = 1 + 3.0f / 256, x[2] = -0.0f;  // two ties
      const Index whole = (rows + 15) / 16 * 16, to_row = (lanes + 31) / 32 * 32;
      std::vector<BFloat16> lying(static_cast<std::size_t>(whole * to_row), to_bfloat16(7.0f));
      unit.round_rows(x.data(), rows, lanes, lying.data(), to_row);
      const auto bits = [&](Index r, Index lane) -> std::uint32_t {
        if (r >= rows || lane >= lanes) return 0;
        return to_bfloat16(x[static_cast<std::size_t>(r * lanes + lane)]).bits;
      };
      for (Index r = 0; r < whole; ++r)
        for (Index lane = 0; lane < to_row; ++lane) {
          ASSERT_EQ(lying[static_cast<std::size_t>(r * to_row + lane)].bits, bits(r, lane));
        }
    }
}

}  // namespace
}  // namespace heed::kernels
