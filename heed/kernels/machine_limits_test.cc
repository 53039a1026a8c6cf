#include "heed/kernels/machine_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/kernels/dot_units.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
namespace {

template <typename Body>
void on_every_target(const Body& body) {
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    SCOPED_TRACE(simd_target_name(target));
    body();
  }
  force_simd_target(0);
}

// The count is that of the sums. That the compiler neither folds a chain nor takes two for one, the numbers that it
// cannot know see to.
TEST(MachineLimits, EveryStepCountsAMultiplyAddOfEachLaneAndChain) {
  on_every_target([] {
    const Index of_one_step = multiply_adds(1);
    EXPECT_GE(of_one_step, 12);
    EXPECT_EQ(multiply_adds(0), 0);
    EXPECT_EQ(multiply_adds(1000), 1000 * of_one_step);
    EXPECT_EQ(multiply_adds(1 << 20), of_one_step << 20);
  });
}

TEST(MachineLimits, EveryStepOfADotUnitCountsItsMultiplyAdds) {
  std::vector<DotUnit> units = bf16_units();
  for (const DotUnit& unit : int8_units()) units.push_back(unit);
  if (units.empty()) GTEST_SKIP() << "this machine has no unit for 16 or 8 bits";
  for (const DotUnit& unit : units) {
    SCOPED_TRACE(unit.name);
    const Index of_one_step = unit.multiply_adds(1);
    EXPECT_GE(of_one_step, 512);
    EXPECT_EQ(unit.multiply_adds(1000), 1000 * of_one_step);
    EXPECT_EQ(unit.multiply_adds(1 << 18), of_one_step << 18);
  }
}

TEST(MachineLimits, ADotUnitIsNoneOfASmallerTarget) {
  on_every_target([] {
    if (simd_target_name(active_simd_target()).starts_with("AVX3")) return;
    EXPECT_TRUE(bf16_units().empty());
    EXPECT_TRUE(int8_units().empty());
  });
}

TEST(MachineLimits, ExpIsOfEachElement) {
  std::vector<float> x(1027), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = -0.01f * static_cast<float>(i);
  on_every_target([&] {
    exp_each(x.data(), y.data(), static_cast<Index>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_FLOAT_EQ(y[i], std::exp(x[i])) << i;
  });
}

TEST(MachineLimits, ASumHasEachElement) {
  std::vector<float> x(1027);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  on_every_target([&] {
    for (Index n : {0, 1, 7, 128, 300, 1027}) {
      EXPECT_EQ(sum_of(x.data(), n), static_cast<float>(n * (n - 1) / 2)) << n;
    }
  });
}

}  // namespace
}  // namespace heed::kernels
