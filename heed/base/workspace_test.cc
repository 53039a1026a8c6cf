#include "heed/base/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>

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

}  // namespace
}  // namespace heed
