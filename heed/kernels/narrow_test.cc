#include "heed/kernels/narrow.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "heed/kernels/target.h"

namespace heed {
namespace {

// Every upper half of a float, with lower halves on both sides of a tie and on it, of bf16 and of f16.
std::vector<float> floats_beside_ties() {
  std::vector<float> wide;
  for (std::uint32_t upper = 0; upper < 65536; ++upper)
    for (const std::uint32_t lower :
         {0x0000u, 0x0001u, 0x0FFFu, 0x1000u, 0x1001u, 0x2FFFu, 0x3000u, 0x3001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
      wide.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  return wide;
}

template <typename Narrow>
void expect_rounded_as(Narrow (*one)(float)) {
  const std::vector<float> wide = floats_beside_ties();
  for (const std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    for (const std::size_t count : {wide.size(), wide.size() - 3}) {  // with and without a partial vector at the end
      std::vector<Narrow> got(wide.size(), Narrow{7});
      kernels::narrow(wide.data(), static_cast<Index>(count), got.data());
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i].bits, one(wide[i]).bits) << wide[i];
      for (std::size_t i = count; i < wide.size(); ++i) ASSERT_EQ(got[i].bits, 7);
    }
  }
  force_simd_target(0);
}

TEST(Narrow, RoundsAsOneNumberIsRoundedOnEveryTarget) {
  expect_rounded_as(to_bfloat16);
  expect_rounded_as(to_float16);
}

}  // namespace
}  // namespace heed
