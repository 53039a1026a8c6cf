#include "heed/kernels/attention_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/attention_additive.h"
#include "heed/kernels/target.h"
#include "heed/testing/not_finite.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::kNaN;
using testing::random_floats;

struct AttentionKernels : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

TEST_P(AttentionKernels, DropoutBitsAreThoseOfPhilox) {
  const std::uint64_t seed = 0x123456789ABCDEF0, stream = 0xFEDCBA9876543210;
  for (Index columns : {1, 8, 9, 14, 40, 200})
    for (Index rows : {1, 3, 14}) {
      const Index stride = 256, first_row = 5, first_key = 48;
      std::vector<std::uint16_t> bits(static_cast<std::size_t>(rows * stride));
      attention_dropout_bits(seed, stream, first_row, rows, first_key, columns, bits.data(), stride);
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c) {
          const std::uint64_t counter =
              (static_cast<std::uint64_t>(first_row + r) << 32) + static_cast<std::uint64_t>(first_key + c) / 8;
          const std::uint32_t word = philox(seed, stream, counter)[static_cast<std::size_t>(c % 8 / 2)];
          ASSERT_EQ(bits[r * stride + c], (word >> (c % 2 * 16)) & 0xFFFF) << columns << " " << r << " " << c;
        }
    }
}

TEST_P(AttentionKernels, DropKeepsAndScales) {
  constexpr Index kRows = 3, kColumns = 21, kStride = 48;
  std::vector<std::uint16_t> bits(kRows * kStride);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i * 9973);
  AttentionRows passes;
  passes.rows = kRows, passes.columns = kColumns, passes.stride = kStride;
  passes.bits = bits.data(), passes.threshold = 40000, passes.keep_scale = 2;
  const std::vector<float> before = random_floats(kRows * kStride, 1, 4);
  std::vector<float> tile = before;
  attention_drop_rows(passes, tile.data());
  for (Index r = 0; r < kRows; ++r)
    for (Index c = 0; c < kColumns; ++c) {
      const Index at = r * kStride + c;
      EXPECT_EQ(tile[at], bits[at] >= 40000 ? 2 * before[at] : 0);
    }
}

TEST_P(AttentionKernels, RowDotsAndNaNsAreFoundAtEveryWidth) {
  for (Index columns : {0, 1, 8, 15, 16, 33}) {
    const Index rows = 3, stride = 40;
    std::vector<float> a = random_floats(rows * stride, 1), b = random_floats(rows * stride, 2), result(3);
    attention_row_dots(rows, columns, a.data(), stride, b.data(), stride, result.data());
    for (Index r = 0; r < rows; ++r) {
      double sum = 0;
      for (Index c = 0; c < columns; ++c) sum += double{a[r * stride + c]} * b[r * stride + c];
      EXPECT_NEAR(result[r], sum, 1e-5);
    }
    a[stride + columns] = kNaN;  // beside the row
    a[0] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(attention_any_nan(rows, columns, a.data(), stride));
    a[0] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(attention_any_nan(rows, columns, a.data(), stride)) << "an infinity is a number";
    if (columns > 0) {
      a[stride + columns - 1] = kNaN;
      EXPECT_TRUE(attention_any_nan(rows, columns, a.data(), stride));
      EXPECT_FALSE(attention_any_nan(1, columns, a.data(), stride));
    }
    std::vector<BFloat16> brain(a.size());
    std::vector<Float16> half(a.size());
    std::transform(a.begin(), a.end(), brain.begin(), to_bfloat16);
    std::transform(a.begin(), a.end(), half.begin(), to_float16);
    EXPECT_EQ(attention_any_nan(rows, columns, brain.data(), stride), columns > 0);
    EXPECT_EQ(attention_any_nan(rows, columns, half.data(), stride), columns > 0);
    EXPECT_FALSE(attention_any_nan(1, columns, brain.data(), stride));
    EXPECT_FALSE(attention_any_nan(1, columns, half.data(), stride));
  }
}

TEST_P(AttentionKernels, ANaNIsFoundInWhicheverRowItStands) {
  for (Index rows = 1; rows <= 18; ++rows)
    for (Index columns : {5, 16, 37}) {
      const Index stride = 40;
      std::vector<float> x = random_floats(rows * stride, 3);
      EXPECT_FALSE(attention_any_nan(rows, columns, x.data(), stride));
      for (Index r = 0; r < rows; ++r)
        for (Index c : {Index{0}, columns - 1}) {
          const float before = std::exchange(x[r * stride + c], kNaN);
          EXPECT_TRUE(attention_any_nan(rows, columns, x.data(), stride)) << r << ", " << c << " of " << rows;
          x[r * stride + c] = before;
        }
    }
}

// Rows of q and k with what the kernel makes of them.
struct AdditiveCase {
  AdditiveCase(Index r, Index c, Index w, float most) : rows(r), keys(c), width(w) {
    for (float& x : q) x *= most;
    for (float& x : k) x *= most;
  }
  AdditiveTile tile() {
    additive_powers(rows, width, q.data(), row, q_powers.data(), width);
    additive_powers(keys, width, k.data(), row, k_powers.data(), width);
    return {rows,
            keys,
            width,
            stride,
            {q.data(), row, q_powers.data(), width},
            {k.data(), row, k_powers.data(), width},
            vector.data()};
  }
  double bent(Index r, Index c, Index d) const { return std::tanh(double{q[r * row + d]} + k[c * row + d]); }

  Index rows, keys, width, row = width + 3, stride = keys + 2, kept_row = additive_kept_width(width);
  std::vector<float> q = random_floats(rows * row, 1), k = random_floats(keys * row, 2),
                     vector = random_floats(width, 3);
  std::vector<float> q_powers = std::vector<float>(static_cast<std::size_t>(rows * width)),
                     k_powers = std::vector<float>(static_cast<std::size_t>(keys * width)),
                     kept = std::vector<float>(static_cast<std::size_t>(rows * keys * kept_row), kNaN),
                     scores = std::vector<float>(static_cast<std::size_t>(rows * stride));
};

TEST_P(AttentionKernels, AdditiveScoresAndTheirGradients) {
  // Beyond 43 a number has no power.
  for (float most : {1.0f, 1e-3f, 20.0f, 50.0f})
    for (Index width : {1, 8, 16, 31, 32, 33, 64, 70, 128}) {
      AdditiveCase of(3, 5, width, most);
      const AdditiveTile tile = of.tile();
      const Index rows = of.rows, keys = of.keys, stride = of.stride, row = of.row;
      std::vector<float> dscores = random_floats(rows * stride, 4);
      dscores[2] = 0;
      attention_additive_scores(tile, of.scores.data());
      std::vector<float> again(of.scores.size());
      attention_additive_scores(tile, again.data(), of.kept.data());
      EXPECT_EQ(of.scores, again) << "with the shares kept";
      std::vector<float> dq(static_cast<std::size_t>(rows * row), 1.0f), dk(static_cast<std::size_t>(keys * row), 1.0f),
          dvector(static_cast<std::size_t>(width), 1.0f);
      attention_additive_backward(tile, of.kept.data(), dscores.data(),
                                  {dq.data(), row, dk.data(), row, dvector.data()});
      std::vector<double> eq(dq.size(), 1), ek(dk.size(), 1), ev(dvector.size(), 1);
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < keys; ++c) {
          double score = 0, size = 0;
          for (Index d = 0; d < width; ++d) {
            const double bent = of.bent(r, c, d), dscore = dscores[r * stride + c];
            EXPECT_NEAR(1 - 2 * of.kept[(r * keys + c) * of.kept_row + d], bent, 5e-7) << most;
            score += of.vector[d] * bent;
            size += std::abs(of.vector[d]);
            eq[r * row + d] += dscore * of.vector[d] * (1 - bent * bent);
            ek[c * row + d] += dscore * of.vector[d] * (1 - bent * bent);
            ev[d] += dscore * bent;
          }
          EXPECT_NEAR(of.scores[r * stride + c], score, 5e-7 * size) << width << ", " << most;
        }
      for (std::size_t i = 0; i < eq.size(); ++i) EXPECT_NEAR(dq[i], eq[i], 1e-5) << width << ", " << most;
      for (std::size_t i = 0; i < ek.size(); ++i) EXPECT_NEAR(dk[i], ek[i], 1e-5) << width << ", " << most;
      for (std::size_t i = 0; i < ev.size(); ++i) EXPECT_NEAR(dvector[i], ev[i], 1e-5) << width << ", " << most;
      attention_additive_backward(tile, of.kept.data(), dscores.data(), {});  // nothing wanted, nothing touched
    }
}

// What float a number of q and one of k give, over the whole line: where they cancel, too.
TEST_P(AttentionKernels, AdditiveTanhsOfAnySum) {
  double worst = 0;
  for (double q = -60; q <= 60; q += 0.37)
    for (double sum = -12; sum <= 12; sum += 0.11) {
      AdditiveCase of(1, 1, 1, 1);
      of.q[0] = static_cast<float>(q), of.k[0] = static_cast<float>(sum - q), of.vector[0] = 1;
      attention_additive_scores(of.tile(), of.scores.data());
      worst = std::max(worst, std::abs(of.scores[0] - of.bent(0, 0, 0)));
    }
  EXPECT_LE(worst, 3e-7);
}

TEST_P(AttentionKernels, AdditiveNumbersThatAreNoneStayWithTheirPairs) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (Index width : {1, 33, 70}) {
    AdditiveCase of(3, 5, width, 1);
    attention_additive_scores(of.tile(), of.scores.data());
    const std::vector<float> before = of.scores;
    of.k[2 * of.row] = kNaN, of.q[of.row] = infinity, of.k[3 * of.row] = -infinity, of.k[4 * of.row] = infinity;
    attention_additive_scores(of.tile(), of.scores.data());
    for (Index r = 0; r < of.rows; ++r)
      for (Index c = 0; c < of.keys; ++c) {
        const float score = of.scores[r * of.stride + c];
        double expected = 0;
        for (Index d = 0; d < width; ++d) expected += of.vector[d] * of.bent(r, c, d);
        if (c < 2 && r != 1) {
          EXPECT_EQ(score, before[r * of.stride + c]);
        } else if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(score)) << r << ", " << c;
        } else {
          EXPECT_NEAR(score, expected, 1e-5) << r << ", " << c;
        }
      }
  }
}

TEST_P(AttentionKernels, AnAdditivePairWithoutGradientIsNotTouched) {
  const std::vector<float> kept(16, kNaN), vector(16, 1.0f), dscores(1, 0.0f);
  std::vector<float> dq(16, 0.0f);
  attention_additive_backward({1, 1, 16, 1, {}, {}, vector.data()}, kept.data(), dscores.data(),
                              {dq.data(), 16, nullptr, 0, nullptr});
  for (float x : dq) EXPECT_EQ(x, 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, AttentionKernels, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return std::string(simd_target_name(test.param)); });

}  // namespace
}  // namespace heed::kernels
