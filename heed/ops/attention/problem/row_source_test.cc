#include "heed/ops/attention/problem/row_source.h"

#include <gtest/gtest.h>

#include "heed/tensor/tensor.h"

namespace heed {
namespace {

// Pages 2, 3, 4, 0 and none, of a pool in which each head's pages lie one after another.
class RowSourceOfPages : public ::testing::Test {
 protected:
  static constexpr Index kPages = 5, kHeads = 2, kPage = 4, kWidth = 3;

  RowSource source() const { return RowSource(transpose(pool_.view(), 0, 1), table_, transpose(scales_.view(), 0, 1)); }
  static Index offset_of(Index head, Index page, Index row) { return ((head * kPages + page) * kPage + row) * kWidth; }

  Tensor pool_ = Tensor::zeros(DType::i8, {kHeads, kPages, kPage, kWidth});
  Tensor scales_ = Tensor::zeros(DType::f32, {kHeads, kPages, kPage});
  Tensor by_pages_ = Tensor::zeros(DType::f32, {kPages, kHeads, kPage, kWidth});
  Tensor table_ = Tensor::from<std::int64_t>(std::vector<std::int64_t>{2, 3, 4, 0, -1}, {1, 5});
};

TEST_F(RowSourceOfPages, PagesThatFollowEachOtherAreOneRun) {
  const RowSource::Run run = source().run(0, 1, {1, 11});
  EXPECT_TRUE(run.stored);
  EXPECT_EQ(run.rows, 10);
  EXPECT_EQ(run.offset, offset_of(1, 2, 1));
  EXPECT_EQ(run.stride, kWidth);
  EXPECT_EQ(run.scales, scales_.data<float>() + (kPages + 2) * kPage + 1);
  EXPECT_EQ(run.scale_stride, 1);
}

TEST_F(RowSourceOfPages, ARunEndsWhereTheNextPageLiesElsewhereOrNowhere) {
  EXPECT_EQ(source().run(0, 0, {5, 20}).rows, 7);
  const RowSource::Run behind = source().run(0, 0, {12, 20});
  EXPECT_EQ(behind.rows, 4);
  EXPECT_EQ(behind.offset, offset_of(0, 0, 0));
  const RowSource::Run nowhere = source().run(0, 0, {16, 20});
  EXPECT_FALSE(nowhere.stored);
  EXPECT_EQ(nowhere.rows, 4);
}

TEST_F(RowSourceOfPages, APoolOfPagesWithAllHeadsHasRunsOfOnePage) {
  const RowSource::Run run = RowSource(by_pages_, table_).run(0, 1, {1, 11});
  EXPECT_EQ(run.rows, 3);
  EXPECT_EQ(run.offset, ((2 * kHeads + 1) * kPage + 1) * kWidth);
}

TEST_F(RowSourceOfPages, ScalesThatLieByPagesEndARunToo) {
  const Tensor scales = Tensor::zeros(DType::f32, {kPages, kHeads, kPage});
  EXPECT_EQ(RowSource(transpose(pool_.view(), 0, 1), table_, scales.view()).run(0, 1, {1, 11}).rows, 3);
}

}  // namespace
}  // namespace heed
