#include "heed/kernels/attention_distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/kernels/target.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::random_floats;

struct AttentionDistance : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

// Far from the origin too, where a sum of products would have no digit left.
TEST_P(AttentionDistance, IsASumOfDifferencesWhereverTheRowsLie) {
  for (double centre : {0.0, 1e4})
    for (Index width : {1, 7, 16, 33, 70})
      for (Index keys : {1, 5, 16, 40}) {
        const Index rows = 9, row = width + 3, stride = keys + 2;
        const std::vector<float> q = random_floats(rows * row, 1, 1, centre),
                                 k = random_floats(keys * row, 2, 1, centre);
        std::vector<float> tile(static_cast<std::size_t>(rows * stride));
        distance_tile({.m = rows,
                       .n = keys,
                       .k = width,
                       .a = {q.data(), row},
                       .b = {k.data(), 1, row},
                       .c = tile.data(),
                       .c_row = stride,
                       .alpha = -1});
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < keys; ++c) {
            double sum = 0;
            for (Index d = 0; d < width; ++d) sum -= std::pow(double{q[r * row + d]} - k[c * row + d], 2);
            EXPECT_NEAR(tile[r * stride + c], sum, 2e-6 * -sum) << width << " " << keys;
          }
      }
}

TEST_P(AttentionDistance, FlowsAlongTheDifferences) {
  for (double centre : {0.0, 1e4})
    for (Index width : {1, 7, 16, 33, 70})
      for (Index rows : {1, 5, 8, 20}) {
        const Index keys = 11, row = width + 3, stride = 16;
        const std::vector<float> q = random_floats(rows * row, 1, 1, centre),
                                 k = random_floats(keys * row, 2, 1, centre), flow = random_floats(rows * stride, 3);
        std::vector<float> dq(static_cast<std::size_t>(rows * row), 1.0f), dk(static_cast<std::size_t>(keys * row), 1);
        difference_tile(
            {rows, width, keys, {flow.data(), stride}, {k.data(), row}, {q.data(), row}, dq.data(), row, 2});
        difference_tile(
            {keys, width, rows, {flow.data(), 1, stride}, {q.data(), row}, {k.data(), row}, dk.data(), row, 2});
        std::vector<double> eq(dq.size(), 1), ek(dk.size(), 1);
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < keys; ++c)
            for (Index d = 0; d < width; ++d) {
              const double step = 2 * flow[r * stride + c] * (double{k[c * row + d]} - q[r * row + d]);
              eq[r * row + d] += step, ek[c * row + d] -= step;
            }
        for (std::size_t i = 0; i < eq.size(); ++i) EXPECT_NEAR(dq[i], eq[i], 1e-4);
        for (std::size_t i = 0; i < ek.size(); ++i) EXPECT_NEAR(dk[i], ek[i], 1e-4);
      }
}

INSTANTIATE_TEST_SUITE_P(Targets, AttentionDistance, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return std::string(simd_target_name(test.param)); });

}  // namespace
}  // namespace heed::kernels
