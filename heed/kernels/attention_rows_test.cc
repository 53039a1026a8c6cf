#include "heed/kernels/attention_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/attention_additive.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_floats(Index count, std::uint64_t seed, double scale = 1) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(rng.normal() * scale);
  return values;
}

struct AttentionKernels : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

// Rows with every feature, and the numbers that they point at.
struct Features {
  Index columns, rows = 3, stride = 0;
  std::vector<float> bias;
  std::vector<Index> begin, end;
  std::vector<std::uint8_t> allowed;
  AttentionRows passes;

  explicit Features(Index width) : columns(width) {
    stride = (columns + kAttentionLanes - 1) / kAttentionLanes * kAttentionLanes + kAttentionLanes;
    bias = random_floats(rows * stride, 3);
    begin = {0, columns / 3, columns / 2};
    end = {columns, columns - columns / 4, columns / 2};  // the last row is dead
    for (Index i = 0; i < rows * columns; ++i) allowed.push_back(i % 5 != 0);
    passes.rows = rows, passes.columns = columns, passes.stride = stride;
    passes.scale = 0.5f, passes.cap = 3.0f;
    passes.bias = bias.data();
    passes.begin = begin.data(), passes.end = end.data();
    passes.allowed = allowed.data(), passes.allowed_row = columns;
  }
  std::vector<float> random_tile(std::uint64_t seed) const {
    std::vector<float> tile(static_cast<std::size_t>(rows * stride), kNaN);  // what is beside the columns is rubbish
    const std::vector<float> values = random_floats(rows * columns, seed, 4);
    for (Index r = 0; r < rows; ++r) std::copy_n(&values[r * columns], columns, &tile[r * stride]);
    return tile;
  }
  double capped(double product) const { return 3.0 * std::tanh(0.5 * product / 3.0); }
  bool open(Index r, Index c) const { return c >= begin[r] && c < end[r] && allowed[r * columns + c] != 0; }
};

TEST_P(AttentionKernels, SoftmaxOfTheAllowedColumns) {
  for (Index columns : {1, 2, 7, 14, 16, 17, 33, 100}) {
    const Features f(columns);
    const std::vector<float> products = f.random_tile(1);
    std::vector<float> tile = products, stat(3);
    attention_softmax_rows(f.passes, tile.data(), stat.data());
    for (Index r = 0; r < f.rows; ++r) {
      double sum = 0;
      const auto score = [&](Index c) { return f.capped(products[r * f.stride + c]) + f.bias[r * f.stride + c]; };
      for (Index c = 0; c < columns; ++c) sum += f.open(r, c) ? std::exp(score(c)) : 0;
      for (Index c = 0; c < columns; ++c) {
        const double expected = f.open(r, c) ? std::exp(score(c)) / sum : 0;
        EXPECT_NEAR(tile[r * f.stride + c], expected, 2e-6) << columns << " " << r << " " << c;
      }
      for (Index c = columns; c < f.stride - kAttentionLanes; ++c) EXPECT_EQ(tile[r * f.stride + c], 0);
      if (sum == 0) {
        EXPECT_EQ(stat[r], kMinusInfinity);
      } else {
        EXPECT_NEAR(stat[r], std::log(sum), 4e-6);
      }
    }
  }
}

TEST_P(AttentionKernels, ARowsWeightsDoNotDependOnRefusedColumnsBehindIt) {
  const Features narrow(14);
  std::vector<float> short_tile = narrow.random_tile(1), short_stat(3);
  Features wide(80);
  std::vector<float> long_tile = wide.random_tile(2), long_stat(3);
  for (Index r = 0; r < 3; ++r) {
    std::copy_n(&short_tile[r * narrow.stride], 14, &long_tile[r * wide.stride]);
    std::copy_n(&narrow.bias[r * narrow.stride], 14, &wide.bias[r * wide.stride]);
    std::copy_n(&narrow.allowed[r * 14], 14, &wide.allowed[r * 80]);
  }
  wide.begin = narrow.begin, wide.end = narrow.end;
  wide.passes.begin = wide.begin.data(), wide.passes.end = wide.end.data();
  attention_softmax_rows(narrow.passes, short_tile.data(), short_stat.data());
  attention_softmax_rows(wide.passes, long_tile.data(), long_stat.data());
  for (Index r = 0; r < 3; ++r) {
    EXPECT_EQ(short_stat[r], long_stat[r]);
    for (Index c = 0; c < 14; ++c) EXPECT_EQ(short_tile[r * narrow.stride + c], long_tile[r * wide.stride + c]);
  }
}

TEST_P(AttentionKernels, ANaNMakesEveryAllowedWeightNaN) {
  for (Index at : {0, 5, 18}) {
    const Index columns = 20, stride = 48;
    std::vector<float> tile(stride, -300.0f), stat(1);
    const std::vector<Index> begin{0}, end{19};
    AttentionRows passes;
    passes.rows = 1, passes.columns = columns, passes.stride = stride;
    passes.begin = begin.data(), passes.end = end.data();
    tile[3] = 300;
    tile[at] = kNaN;
    attention_softmax_rows(passes, tile.data(), stat.data());
    EXPECT_TRUE(std::isnan(stat[0]));
    for (Index c = 0; c < 19; ++c) EXPECT_TRUE(std::isnan(tile[c])) << at << " " << c;
    EXPECT_EQ(tile[19], 0);
  }
}

TEST_P(AttentionKernels, BackwardIsTheGradientOfSoftmaxUnderCapAndDropout) {
  for (Index columns : {1, 7, 16, 17, 33}) {
    Features f(columns);
    std::vector<std::uint16_t> bits(static_cast<std::size_t>(f.rows * f.stride));
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i * 9973);
    f.passes.bits = bits.data(), f.passes.threshold = 16384, f.passes.keep_scale = 4.0f / 3;
    const std::vector<float> products = f.random_tile(1), dropped = f.random_tile(2);
    std::vector<float> tile = products, stat(3), weights = products, dweights = dropped;
    attention_softmax_rows(f.passes, weights.data(), stat.data());
    const std::vector<float> delta{0.3f, -0.2f, 0.1f};
    std::vector<float> dbias(static_cast<std::size_t>(f.rows * f.stride), 1.0f);
    attention_softmax_backward_rows(f.passes, stat.data(), delta.data(), tile.data(), dweights.data(), dbias.data());
    for (Index r = 0; r < f.rows; ++r)
      for (Index c = 0; c < columns; ++c) {
        const Index at = r * f.stride + c;
        const bool kept = bits[at] >= 16384;
        const double weight = f.open(r, c) ? weights[at] : 0, bent = f.capped(products[at]) / 3.0;
        const double gradient = f.open(r, c) ? weight * ((kept ? dropped[at] * 4.0 / 3 : 0) - delta[r]) : 0;
        EXPECT_NEAR(tile[at], kept ? weight * 4 / 3 : 0, 3e-6);
        EXPECT_NEAR(dbias[at], gradient, 2e-5);
        EXPECT_NEAR(dweights[at], gradient * (1 - bent * bent) * 0.5, 2e-5);
      }
  }
}

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
  Features f(21);
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(f.rows * f.stride));
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i * 9973);
  f.passes.bits = bits.data(), f.passes.threshold = 40000, f.passes.keep_scale = 2;
  const std::vector<float> before = f.random_tile(1);
  std::vector<float> tile = before;
  attention_drop_rows(f.passes, tile.data());
  for (Index r = 0; r < f.rows; ++r)
    for (Index c = 0; c < 21; ++c) {
      const Index at = r * f.stride + c;
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
    if (columns > 0) {
      a[stride + columns - 1] = kNaN;
      EXPECT_TRUE(attention_any_nan(rows, columns, a.data(), stride));
      EXPECT_FALSE(attention_any_nan(1, columns, a.data(), stride));
    }
  }
}

TEST_P(AttentionKernels, AdditiveScoresAndTheirGradients) {
  for (Index width : {1, 8, 16, 31, 32, 33, 70}) {
    const Index rows = 3, keys = 5, stride = 7, row = width + 3;
    const std::vector<float> q = random_floats(rows * row, 1), k = random_floats(keys * row, 2),
                             vector = random_floats(width, 3);
    const AdditiveTile tile{rows, keys, width, stride, q.data(), row, k.data(), row, vector.data()};
    std::vector<float> scores(static_cast<std::size_t>(rows * stride)), dscores = random_floats(rows * stride, 4);
    dscores[2] = 0;
    attention_additive_scores(tile, scores.data());
    std::vector<float> dq(static_cast<std::size_t>(rows * row), 1.0f), dk(static_cast<std::size_t>(keys * row), 1.0f),
        dvector(static_cast<std::size_t>(width), 1.0f);
    attention_additive_backward(tile, dscores.data(), {dq.data(), row, dk.data(), row, dvector.data()});
    std::vector<double> eq(dq.size(), 1), ek(dk.size(), 1), ev(dvector.size(), 1);
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < keys; ++c) {
        double score = 0;
        for (Index d = 0; d < width; ++d) {
          const double bent = std::tanh(double{q[r * row + d]} + k[c * row + d]), dscore = dscores[r * stride + c];
          score += vector[d] * bent;
          eq[r * row + d] += dscore * vector[d] * (1 - bent * bent);
          ek[c * row + d] += dscore * vector[d] * (1 - bent * bent);
          ev[d] += dscore * bent;
        }
        EXPECT_NEAR(scores[r * stride + c], score, 1e-5) << width;
      }
    for (std::size_t i = 0; i < eq.size(); ++i) EXPECT_NEAR(dq[i], eq[i], 1e-5);
    for (std::size_t i = 0; i < ek.size(); ++i) EXPECT_NEAR(dk[i], ek[i], 1e-5);
    for (std::size_t i = 0; i < ev.size(); ++i) EXPECT_NEAR(dvector[i], ev[i], 1e-5);
    attention_additive_backward(tile, dscores.data(), {});  // nothing wanted, nothing touched
  }
}

TEST_P(AttentionKernels, AnAdditivePairWithoutGradientIsNotTouched) {
  const std::vector<float> q(16, kNaN), k(16, kNaN), vector(16, 1.0f), dscores(1, 0.0f);
  std::vector<float> dq(16, 0.0f);
  attention_additive_backward({1, 1, 16, 1, q.data(), 16, k.data(), 16, vector.data()}, dscores.data(),
                              {dq.data(), 16, nullptr, 0, nullptr});
  for (float x : dq) EXPECT_EQ(x, 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, AttentionKernels, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return std::string(simd_target_name(test.param)); });

}  // namespace
}  // namespace heed::kernels
