#include "heed/base/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/base/poison.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

TEST(Workspace, ScopesGiveBackAndASecondRunAllocatesNothing) {
  Workspace workspace;
  const auto run = [&] {
    Workspace::Scope outer(workspace);
    float* a = workspace.take<float>(1000);
    a[999] = 1;
    {
      Workspace::Scope inner(workspace);
      double* b = workspace.take<double>(200000);
      b[199999] = 2;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) % 64, 0u);
    }
    float* c = workspace.take<float>(10);
    c[0] = 3;
    EXPECT_EQ(a[999], 1);
  };
  run();
  const Index held = workspace.capacity();
  for (int i = 0; i < 5; ++i) run();
  EXPECT_EQ(workspace.capacity(), held);
}

TEST(Workspace, RefusesWhatNoMachineHas) {
  Workspace workspace;
  constexpr Index kLargest = std::numeric_limits<Index>::max();
  EXPECT_EQ(testing::refusal([&] { workspace.take<float>(kLargest); }),
            "Workspace::take: 9223372036854775807 elements of 4 bytes are more than any machine has");
  EXPECT_THROW(workspace.take<char>(kLargest), Error);
  EXPECT_THROW(workspace.take<double>(kLargest / 8 + 1), Error);
  EXPECT_THROW(workspace.take<float>(-1), Error);
  EXPECT_EQ(workspace.capacity(), 0);
  EXPECT_NE(workspace.take<float>(0), nullptr);
}

TEST(Workspace, TheAddressSanitizerSeesUseOfWhatNobodyHasTaken) {
  Workspace workspace;
  const char* given_back = nullptr;
  {
    const Workspace::Scope scope(workspace);
    workspace.take<char>(10);
    given_back = workspace.take<char>(1000);
    EXPECT_FALSE(is_poisoned(given_back + 999));
  }
  const char* const taken = workspace.take<char>(10);
  EXPECT_FALSE(is_poisoned(taken + 9));
  EXPECT_EQ(is_poisoned(taken + 10), kAddressSanitizer);
  EXPECT_EQ(is_poisoned(given_back), kAddressSanitizer);
}

TEST(Memory, TheAddressSanitizerSeesUseOfIdleBlocksAndBehindTheBytesAskedFor) {
  std::shared_ptr<void> block = allocate(1000);
  const char* const bytes = static_cast<const char*>(block.get());
  EXPECT_FALSE(is_poisoned(bytes + 999));
  EXPECT_EQ(is_poisoned(bytes + 1000), kAddressSanitizer);
  block.reset();
  EXPECT_EQ(is_poisoned(bytes), kAddressSanitizer);
}

TEST(Memory, WhatCannotBeHadIsRefusedAndForgotten) {
  for (const Index bytes : {Index{-1}, std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max()}) {
    EXPECT_THROW(allocate(bytes), std::bad_alloc);
  }
}

}  // namespace
}  // namespace heed
