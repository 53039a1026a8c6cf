#include "heed/kernels/lane_dropout.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
namespace {

struct LaneDropoutTest : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

// Of each word of Philox the low half is an even key's, the high half an odd one's.
std::uint32_t bits_of(std::uint64_t seed, std::uint64_t stream, Index row, Index key) {
  const std::uint64_t counter = (static_cast<std::uint64_t>(row) << 32) + static_cast<std::uint64_t>(key / 8);
  const std::uint32_t word = philox(seed, stream, counter)[static_cast<std::size_t>(key % 8 / 2)];
  return key % 2 == 0 ? word & 0xFFFFu : word >> 16;
}

TEST_P(LaneDropoutTest, AWeightIsKeptWhereItsBitsReachTheThreshold) {
  constexpr Index kFirstRow = (Index{1} << 30) - 70;
  constexpr std::uint64_t kSeed = 0xF123456789ABCDEFu, kStream = 0x9E3779B97F4A7C15u;
  for (const Index lanes : {16, 48})
    for (const Index first_key : {Index{0}, Index{192}, Index{1} << 29})
      for (const Index keys : {64, 40, 33, 9, 1})
        for (const std::uint32_t threshold : {1u, 20000u, 65535u}) {
          std::vector<std::uint32_t> kept(static_cast<std::size_t>(lanes * 2), 0u);
          dropout_lanes(kSeed, kStream, kFirstRow, lanes, first_key, keys, threshold, kept.data());
          for (Index r = 0; r < lanes; ++r)
            for (Index j = 0; j < keys; ++j) {
              const bool is_kept = kept[static_cast<std::size_t>(j / 32 * lanes + r)] >> (j % 32) & 1;
              ASSERT_EQ(is_kept, bits_of(kSeed, kStream, kFirstRow + r, first_key + j) >= threshold)
                  << lanes << " lanes, row " << r << ", key " << first_key << " + " << j << " of " << keys;
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Targets, LaneDropoutTest, ::testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return std::string(simd_target_name(target.param)); });

}  // namespace
}  // namespace heed::kernels
