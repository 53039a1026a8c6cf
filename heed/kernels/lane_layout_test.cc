#include "heed/kernels/lane_layout.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
namespace {

struct LaneLayout : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

TEST_P(LaneLayout, RowsComeBackFromLanes) {
  const auto random_floats = [](Index count) {
    Rng rng(3);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(rng.normal());
    return values;
  };
  for (Index rows : {1, 14, 16, 33, 64})
    for (Index columns : {1, 3, 16, 40, 64}) {
      const Index lanes = round_up(rows, kLaneUnit), stride = columns + 3;
      const std::vector<float> x = random_floats(rows * stride), factor(static_cast<std::size_t>(lanes), 2.0f);
      std::vector<float> to(static_cast<std::size_t>(columns * lanes), 7.0f), back(x.size(), 9.0f);
      rows_to_lanes(rows, columns, x.data(), stride, to.data(), lanes);
      for (Index c = 0; c < columns; ++c)
        for (Index r = 0; r < lanes; ++r) {
          const float expected = r < rows ? x[static_cast<std::size_t>(r * stride + c)] : 0;
          ASSERT_EQ(to[static_cast<std::size_t>(c * lanes + r)], expected) << rows << " x " << columns;
        }
      lanes_to_rows(rows, columns, to.data(), lanes, factor.data(), back.data(), stride);
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < stride; ++c) {
          const std::size_t at = static_cast<std::size_t>(r * stride + c);
          ASSERT_EQ(back[at], c < columns ? 2 * x[at] : 9) << rows << " " << columns << " at " << r << ", " << c;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, LaneLayout, ::testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return std::string(simd_target_name(target.param)); });

}  // namespace
}  // namespace heed::kernels
