#include "heed/kernels/byte_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::random_floats;

// Some rows of bytes as they lie, with others behind them, and rows of floats, of which the second is much smaller and
// the third has one large number.
struct Sample {
  static constexpr Index kRow = 600, kRows = kByteKeys;
  std::vector<std::int8_t> stored;
  std::vector<float> scales = random_floats(3 * kRows, 2), floats = random_floats(kMostByteRows * kRow, 3);

  Sample() : stored(static_cast<std::size_t>((kRows + 1) * kRow)) {
    Rng rng(1);
    for (std::int8_t& byte : stored) byte = static_cast<std::int8_t>(rng.below(256) - 128);
    for (Index i = 0; i < kRow; ++i) floats[static_cast<std::size_t>(kRow + i)] *= 0x1p-60f;
    floats[2 * kRow + 5] = 3e4f;
  }
  StoredRows rows(Index count, Index width) const {
    return {.data = stored.data(),
            .dtype = DType::i8,
            .count = count,
            .width = width,
            .row = kRow,
            .scales = scales.data(),
            .scale_row = 3,
            .next = stored.data() + kRow,
            .next_bytes = count == 33 ? 1000 : 0};
  }
  double number(Index row, Index at) const { return stored[static_cast<std::size_t>(row * kRow + at)]; }
  double scale(Index row) const { return scales[static_cast<std::size_t>(3 * row)]; }
  const float* row_of_floats(Index r) const { return floats.data() + r * kRow; }
};

// Row r of `rows` is what it was when it was first computed; one behind them is as it was, sevens.
void expect_as_before(const std::vector<float>& row, Index r, Index rows, std::vector<std::vector<float>>& before) {
  std::vector<float>& first = before[static_cast<std::size_t>(r)];
  if (r < rows && first.empty()) first = row;
  EXPECT_EQ(row, r < rows ? first : std::vector<float>(row.size(), 7)) << "row " << r << " of " << rows;
}

class ByteRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (byte_units().empty()) GTEST_SKIP() << "this processor multiplies no bytes, or its SIMD target is forced lower";
  }
  // What a sum of so much magnitude may be off by, of rows of which the largest number is so large.
  static double tolerance(double magnitude, float largest, Index terms) {
    return 0x1p-22 * magnitude + 0x1p-23 * largest * 128 * static_cast<double>(terms);
  }
  static float largest_of(const float* x, Index count) {
    float largest = 0;
    for (Index i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
    return largest;
  }
};

TEST_F(ByteRows, ProductsAreThoseOfTheRowsAndHaveTheSameBitsByEachUnitAndBesideAnyOthers) {
  const Sample x;
  constexpr float kAlpha = 0.3f;
  for (Index width : {64, 128, 576})
    for (Index count : {1, 16, 33, 64}) {
      std::vector<std::vector<float>> alone(kMostByteRows);
      for (const ByteUnit& unit : byte_units())
        for (Index rows : {1, 2, 3, 4, 7, 16}) {
          SCOPED_TRACE(std::string(unit.name) + ", " + std::to_string(rows) + " rows, " + std::to_string(width));
          std::vector<std::int8_t> digits(static_cast<std::size_t>(digit_row_bytes(width)));
          const Index chunk = digit_columns(rows, width);
          std::vector<std::uint32_t> columns(static_cast<std::size_t>(ceil_div(rows, kByteRows) * chunk));
          std::vector<float> units(kMostByteRows);
          for (Index r = 0; r < rows; ++r) {
            DigitTerms terms;
            split_digits(x.row_of_floats(r), width, digits.data(), &terms);
            units[static_cast<std::size_t>(r)] = static_cast<float>(terms.unit);
            turn_digits(r % kByteRows, std::min(rows, kByteRows), digits.data(), width,
                        columns.data() + r / kByteRows * chunk);
          }
          std::vector<float> got(kMostByteRows * kByteKeys, 7);
          unit.open(rows);
          unit.products(rows, columns.data(), units.data(), x.rows(count, width), kAlpha, {got.data(), kByteKeys});
          unit.close();
          for (Index r = 0; r < kMostByteRows; ++r) {
            const std::vector<float> row(got.begin() + r * kByteKeys, got.begin() + r * kByteKeys + count);
            expect_as_before(row, r, rows, alone);
            if (r >= rows) continue;
            for (Index j = 0; j < count; ++j) {
              double sum = 0, magnitude = 0;
              for (Index d = 0; d < width; ++d) {
                const double term = x.row_of_floats(r)[d] * x.number(j, d);
                sum += term, magnitude += std::abs(term);
              }
              const double factor = double{kAlpha} * x.scale(j);
              ASSERT_NEAR(row[static_cast<std::size_t>(j)], sum * factor,
                          std::abs(factor) * tolerance(magnitude, largest_of(x.row_of_floats(r), width), width));
            }
          }
        }
    }
}

TEST_F(ByteRows, SumsAreThoseOfTheWeightsAndHaveTheSameBitsByEachUnitAndBesideAnyOthers) {
  const Sample x;
  for (Index width : {64, 128, 576})
    for (Index count : {1, 16, 33, 64}) {
      std::vector<std::vector<float>> alone(kMostByteRows);
      for (const ByteUnit& unit : byte_units())
        for (Index rows : {1, 2, 3, 4, 7, 16}) {
          SCOPED_TRACE(std::string(unit.name) + ", " + std::to_string(rows) + " rows, " + std::to_string(count));
          std::vector<std::int8_t> digits(static_cast<std::size_t>(kMostByteRows * kBytePlaces * kByteKeys));
          std::vector<float> units(kMostByteRows), weights(kMostByteRows * kByteKeys);
          for (Index r = 0; r < rows; ++r) std::copy_n(x.row_of_floats(r), kByteKeys, weights.data() + r * kByteKeys);
          split_weights(rows, weights.data(), x.rows(count, width), digits.data(), units.data());
          std::vector<float> got(static_cast<std::size_t>(kMostByteRows * width), 7);
          unit.open(rows);
          unit.sums(rows, digits.data(), units.data(), x.rows(count, width), {got.data(), width});
          unit.close();
          for (Index r = 0; r < kMostByteRows; ++r) {
            const std::vector<float> row(got.begin() + r * width, got.begin() + (r + 1) * width);
            expect_as_before(row, r, rows, alone);
            if (r >= rows) continue;
            for (Index d = 0; d < width; ++d) {
              double sum = 0, magnitude = 0;
              float largest = 0;
              for (Index j = 0; j < count; ++j) {
                const double weight = x.row_of_floats(r)[j] * x.scale(j), term = weight * x.number(j, d);
                sum += term, magnitude += std::abs(term);
                largest = std::max(largest, std::abs(static_cast<float>(weight)));
              }
              ASSERT_NEAR(row[static_cast<std::size_t>(d)], sum, tolerance(magnitude, largest, count));
            }
          }
        }
    }
}

TEST_F(ByteRows, ARowThatIsNotFiniteHasNoNumbersAndSpoilsNoOther) {
  const Sample x;
  constexpr Index kWidth = 64, kCount = 16;
  for (const ByteUnit& unit : byte_units()) {
    std::vector<std::int8_t> digits(static_cast<std::size_t>(digit_row_bytes(kWidth)));
    std::vector<std::uint32_t> columns(static_cast<std::size_t>(digit_columns(2, kWidth)));
    float units[2];
    std::vector<float> spoilt(x.floats.begin(), x.floats.begin() + kWidth);
    spoilt[3] = std::numeric_limits<float>::infinity();
    const float* const rows[] = {spoilt.data(), x.row_of_floats(0)};
    for (Index r = 0; r < 2; ++r) {
      DigitTerms terms;
      split_digits(rows[r], kWidth, digits.data(), &terms);
      units[r] = static_cast<float>(terms.unit);
      turn_digits(r, 2, digits.data(), kWidth, columns.data());
    }
    std::vector<float> got(2 * kByteKeys);
    unit.open(2);
    unit.products(2, columns.data(), units, x.rows(kCount, kWidth), 1, {got.data(), kByteKeys});
    unit.close();
    for (Index j = 0; j < kCount; ++j) {
      EXPECT_TRUE(std::isnan(got[static_cast<std::size_t>(j)]));
      EXPECT_TRUE(std::isfinite(got[static_cast<std::size_t>(kByteKeys + j)]));
    }
  }
}

TEST_F(ByteRows, WeightsThatAreNotFiniteHaveNoNumbersAndSpoilNoOther) {
  const Sample x;
  constexpr Index kWidth = 64, kCount = 16;
  std::vector<float> weights = random_floats(2 * kByteKeys, 4);
  weights[3] = std::numeric_limits<float>::infinity();
  std::fill_n(weights.begin() + kCount, kByteKeys - kCount, std::numeric_limits<float>::infinity());  // of no row
  std::vector<std::int8_t> digits(static_cast<std::size_t>(2 * kBytePlaces * kByteKeys));
  float units[2];
  split_weights(2, weights.data(), x.rows(kCount, kWidth), digits.data(), units);
  for (const ByteUnit& unit : byte_units()) {
    std::vector<float> got(2 * kWidth);
    unit.open(2);
    unit.sums(2, digits.data(), units, x.rows(kCount, kWidth), {got.data(), kWidth});
    unit.close();
    for (Index d = 0; d < kWidth; ++d) {
      EXPECT_TRUE(std::isnan(got[static_cast<std::size_t>(d)]));
      EXPECT_TRUE(std::isfinite(got[static_cast<std::size_t>(kWidth + d)]));
    }
  }
}

}  // namespace
}  // namespace heed::kernels
