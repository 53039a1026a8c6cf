#include "heed/ops/attention/plans/float_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {
namespace {

// Pages of four rows, the second of them first.
struct Pages {
  Tensor pool = Tensor::zeros(DType::f32, {2, 1, 4, 16});
  Tensor table = Tensor::from(std::vector<std::int32_t>{1, 0}, {1, 2});
  RowSource rows{pool.view(), table.view()};

  // What is asked for after `read`, of rows that are read up to `end`.
  const void* next(Range read, Index end) const {
    kernels::StoredRows stored;
    ask_for_next({rows, read, RowSource(), 0, end}, 0, 0, read, stored);
    return stored.next;
  }
};

TEST(AskForNext, IsTheRowThatFollowsInItsPage) {
  const Pages pages;
  EXPECT_EQ(pages.next({0, 4}, 8), pages.pool.data<float>());
  EXPECT_EQ(pages.next({4, 6}, 8), pages.pool.data<float>() + 2 * 16);
}

TEST(AskForNext, LooksUpNoPageBehindTheLastRow) {
  const Pages pages;
  EXPECT_EQ(pages.next({4, 8}, 8), nullptr);
  EXPECT_EQ(pages.next({0, 4}, 3), nullptr);  // all of a block is read, of which the mask leaves less
  EXPECT_EQ(pages.next({4, 8}, 6), nullptr);
}

}  // namespace
}  // namespace heed
