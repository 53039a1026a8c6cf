// What tests of walks read off them.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "heed/tasks/explain/explanation.h"

namespace heed {

using Values = std::vector<double>;

// The matrix of this name, of a head where that is given, in a step of a walk.
inline const LabelledMatrix& matrix(const Explanation& walk, const char* step, std::string_view name, Index head = -1) {
  for (const LabelledMatrix& candidate : walk.step(step).matrices) {
    if (candidate.name == name && candidate.head.value_or(-1) == head) return candidate;
  }
  ADD_FAILURE() << step << " has no matrix " << name;
  return walk.step(step).matrices.front();
}

inline void expect_close(const Values& seen, const Values& expected, double tolerance) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], tolerance) << "at " << i;
}

}  // namespace heed
