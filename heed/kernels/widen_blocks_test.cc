#include "heed/kernels/widen_blocks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "heed/kernels/target.h"
#include "heed/testing/random_blocks.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_blocks;
using testing::refusal;

TEST(WidenBlocks, HasTheBitsOfTheDefinitionOnEveryTarget) {
  for (BlockType type : testing::kBlockTypes) {
    const Index count = 40, numbers = count * layout_of(type).numbers;
    const Tensor blocks = random_blocks(type, count, layout_of(type).numbers, 11);
    std::vector<float> expected(static_cast<std::size_t>(numbers)), wide(expected.size() + 1);
    widen_blocks(type, blocks.data<unsigned char>(), count, expected.data());
    for (std::int64_t target : simd_targets()) {
      force_simd_target(target);
      wide.assign(wide.size(), -1);
      kernels::widen(type, blocks.data<unsigned char>(), count, wide.data());
      EXPECT_EQ(std::memcmp(wide.data(), expected.data(), expected.size() * sizeof(float)), 0)
          << name_of(type) << " " << simd_target_name(target);
      EXPECT_EQ(wide.back(), -1) << name_of(type) << " " << simd_target_name(target);
    }
  }
  force_simd_target(0);
}

TEST(WidenBlocks, WhatIsNoBlockIsRefused) {
  EXPECT_EQ(refusal([] { kernels::widen(BlockType::none, nullptr, 1, nullptr); }),
            "unpack_blocks: none is no type of blocks");
}

}  // namespace
}  // namespace heed
