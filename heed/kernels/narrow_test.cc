#include "heed/kernels/narrow.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "heed/kernels/target.h"

namespace heed {
namespace {

// Every upper half of a float, with lower halves on both sides of a tie and on it.
TEST(Narrow, RoundsAsOneNumberIsRoundedOnEveryTarget) {
  std::vector<float> wide;
  for (std::uint32_t upper = 0; upper < 65536; ++upper)
    for (const std::uint32_t lower : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
      wide.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  for (const std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    for (const std::size_t count : {wide.size(), wide.size() - 3}) {  // with and without a partial vector at the end
      std::vector<BFloat16> got(wide.size(), BFloat16{7});
      kernels::narrow(wide.data(), static_cast<Index>(count), got.data());
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i].bits, to_bfloat16(wide[i]).bits) << wide[i];
      for (std::size_t i = count; i < wide.size(); ++i) ASSERT_EQ(got[i].bits, 7);
    }
  }
  force_simd_target(0);
}

}  // namespace
}  // namespace heed
