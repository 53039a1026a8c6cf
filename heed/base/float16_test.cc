#include "heed/base/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heed {
namespace {

TEST(Float16, EveryValueRoundTrips) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const float value = to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_float16(value))));
    } else {
      ASSERT_EQ(to_float16(value), half) << bits;
    }
    const BFloat16 brain{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(brain);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(to_float(to_bfloat16(wide))));
    } else {
      ASSERT_EQ(to_bfloat16(wide), brain) << bits;
    }
  }
}

TEST(Float16, RoundsToNearestEven) {
  EXPECT_EQ(to_float(to_float16(2049.0f)), 2048.0f);
  EXPECT_EQ(to_float(to_float16(2051.0f)), 2052.0f);
  EXPECT_EQ(to_float(to_float16(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(to_float(to_float16(65520.0f))));
  EXPECT_EQ(to_float(to_bfloat16(257.0f)), 256.0f);
  EXPECT_EQ(to_float(to_bfloat16(259.0f)), 260.0f);
  EXPECT_TRUE(std::isinf(to_float(to_bfloat16(std::numeric_limits<float>::max()))));
}

}  // namespace
}  // namespace heed
