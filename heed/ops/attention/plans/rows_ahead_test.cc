#include "heed/ops/attention/plans/rows_ahead.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {
namespace {

// How many different lines of 64 bytes are left, each of which begins within the tensor.
Index lines_within(const Tensor& tensor, const kernels::LinesAhead& lines) {
  const char* const begin = reinterpret_cast<const char*>(tensor.data<float>());
  std::set<Index> found;
  for (Index i = 0; i < lines.left; ++i) {
    const Index at = lines.next[i] - begin;
    EXPECT_GE(at, 0);
    EXPECT_LT(at, tensor.size() * Index{sizeof(float)});
    found.insert(at / 64);
  }
  return static_cast<Index>(found.size());
}

TEST(RowsAhead, AreTheLinesOfTheRowsWhereverTheyLie) {
  const Tensor side_by_side = Tensor::zeros(DType::f32, {1, 10, 3, 32});  // [B, L, H, D]: two lines a row
  View heads = side_by_side.view();
  std::swap(heads.shape[1], heads.shape[2]), std::swap(heads.stride[1], heads.stride[2]);
  RowsAhead ahead;
  ahead.expect(heads, 0, 1, {4, 8});
  EXPECT_EQ(ahead.lines().left, 8);
  EXPECT_EQ(lines_within(side_by_side, ahead.lines()), 8);
  EXPECT_EQ(ahead.lines().next[0], reinterpret_cast<const char*>(&heads.at<float>({0, 1, 4})));
  ahead.expect(RowSource(heads), 0, 2, {9, 10});
  EXPECT_EQ(lines_within(side_by_side, ahead.lines()), 10);
}

TEST(RowsAhead, KeepsNothingWhenClearedAndNothingOfNoRows) {
  const Tensor x = Tensor::zeros(DType::f32, {1, 1, 10, 16});
  RowsAhead ahead;
  ahead.expect(x, 0, 0, {10, 10});
  EXPECT_EQ(ahead.lines().left, 0);
  ahead.expect(x, 0, 0, {0, 10});
  EXPECT_EQ(ahead.lines().left, 10);
  ahead.clear();
  EXPECT_EQ(ahead.lines().left, 0);
}

TEST(RowsAhead, LeavesOutWhatIsTooMuch) {
  const Tensor x = Tensor::zeros(DType::f32, {1, 1, 5000, 16});
  RowsAhead ahead;
  ahead.expect(x, 0, 0, {0, 5000});
  EXPECT_EQ(lines_within(x, ahead.lines()), ahead.lines().left);
  EXPECT_LT(ahead.lines().left, 5000);
}

TEST(RowsAhead, LeavesOutPagesThatAreNowhere) {
  const Tensor pool = Tensor::zeros(DType::f32, {2, 1, 4, 16}),
               table = Tensor::from(std::vector<std::int32_t>{1, -1}, {1, 2});
  RowsAhead ahead;
  ahead.expect(RowSource(pool, table), 0, 0, {2, 8});
  EXPECT_EQ(ahead.lines().left, 2);
  EXPECT_EQ(lines_within(pool, ahead.lines()), 2);
}

}  // namespace
}  // namespace heed
