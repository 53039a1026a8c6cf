#include "heed/kernels/byte_bits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
namespace {

struct ByteBitsTest : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

TEST_P(ByteBitsTest, ABitStaysWhereItWasSetAndItsByteIsNotZero) {
  constexpr Index kRows = 5;
  Rng rng(3);
  for (const Index count : {0, 1, 7, 33, 63, 64}) {
    const Index stride = count + 3;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(kRows * stride));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.below(2) == 0 ? 0 : 1 + rng.below(255));
    std::vector<std::uint64_t> words(kRows), expected(kRows, 0u);
    for (std::size_t r = 0; r < kRows; ++r) {
      words[r] = rng.next() | rng.next();
      for (Index j = 0; j < count; ++j) {
        const bool set = bytes[r * static_cast<std::size_t>(stride) + static_cast<std::size_t>(j)] != 0;
        expected[r] |= words[r] & (std::uint64_t{set} << j);
      }
    }
    keep_set_bytes(kRows, count, bytes.data(), stride, words.data());
    EXPECT_EQ(words, expected) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ByteBitsTest, ::testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return std::string(simd_target_name(target.param)); });

}  // namespace
}  // namespace heed::kernels
