#include "heed/kernels/widen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/kernels/target.h"

namespace heed {
namespace {

template <typename T>
void expect_every_number_widens() {
  std::vector<T> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  for (std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    for (Index first : {0, 3}) {  // with and without a partial vector at the end
      std::vector<float> wide(halves.size());
      kernels::widen(halves.data() + first, 65536 - first, wide.data());
      for (Index i = first; i < 65536; ++i) {
        const float got = wide[static_cast<std::size_t>(i - first)],
                    expected = to_float(halves[static_cast<std::size_t>(i)]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(got)) << i;
        } else {
          ASSERT_EQ(got, expected) << i;
          ASSERT_EQ(std::signbit(got), std::signbit(expected)) << i;
        }
      }
    }
  }
  force_simd_target(0);
}

TEST(Widen, IsExactForEveryBFloat16OnEveryTarget) { expect_every_number_widens<BFloat16>(); }
TEST(Widen, IsExactForEveryFloat16OnEveryTarget) { expect_every_number_widens<Float16>(); }

TEST(Widen, AnInt8IsItsProductWithTheScaleOnEveryTarget) {
  std::vector<std::int8_t> bytes;
  for (int value = -128; value < 128; ++value) bytes.push_back(static_cast<std::int8_t>(value));
  for (std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    for (float scale : {1.0f, 0.0f, 0.1f / 127, 0x1.fffffep-3f, 0x1p-149f}) {
      for (Index count : {256, 251, 3, 0}) {  // with and without a partial vector at the end
        std::vector<float> wide(256, -1.0f);
        kernels::widen(bytes.data(), scale, count, wide.data());
        for (std::size_t i = 0; i < wide.size(); ++i) {
          const float expected = static_cast<Index>(i) < count ? static_cast<float>(bytes[i]) * scale : -1.0f;
          ASSERT_EQ(wide[i], expected) << i << " times " << scale;
        }
      }
    }
  }
  force_simd_target(0);
}

}  // namespace
}  // namespace heed
