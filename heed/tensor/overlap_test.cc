#include "heed/tensor/overlap.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {
namespace {

TEST(Overlap, TellsInterleavedViewsFromTouchingOnes) {
  const Tensor packed = Tensor::zeros(DType::f32, {2, 5, 3 * 4 * 8});  // q, k and v of 4 heads of width 8
  const auto part = [&](Index first, Index features) {
    return split_heads(slice(packed.view(), 2, first, first + features), features / 8);
  };
  EXPECT_FALSE(overlap(part(0, 32), part(32, 32)));
  EXPECT_FALSE(overlap(part(64, 32), part(0, 32)));
  EXPECT_TRUE(overlap(part(0, 32), part(24, 32)));  // they share a head
  EXPECT_TRUE(overlap(part(0, 32), packed.view()));
  EXPECT_TRUE(overlap(part(32, 32), part(32, 32)));
  EXPECT_FALSE(overlap(ConstView(), packed.view()));
  EXPECT_FALSE(overlap(slice(packed.view(), 1, 2, 2), packed.view()));
}

TEST(Overlap, AgreesWithTheSetsOfBytes) {
  std::vector<char> memory(4096);
  const auto bytes = [](const ConstView& view) {
    std::set<const char*> all;
    for (Index i = 0; i < view.shape[0]; ++i)
      for (Index j = 0; j < view.shape[1]; ++j)
        for (Index byte = 0; byte < size_of(view.dtype); ++byte) {
          all.insert(static_cast<const char*>(view.data) + view.offset({i, j}) * size_of(view.dtype) + byte);
        }
    return all;
  };
  std::vector<ConstView> views;
  for (DType dtype : {DType::f32, DType::f16})
    for (Index first : {0, 1, 2, 5, 40})
      for (Index row : {-7, 3, 4, 6, 12})
        for (Index column : {-2, 1, 2, 3}) {
          ConstView view = make_view(memory.data() + 1024 + first * size_of(dtype), dtype, {3, 4});
          view.stride = {row, column, 0, 0};
          views.push_back(view);
        }
  int shared = 0;
  for (const ConstView& a : views)
    for (const ConstView& b : views) {
      const auto ours = bytes(a), theirs = bytes(b);
      bool meet = false;
      for (const char* byte : ours) meet |= theirs.count(byte) > 0;
      shared += meet;
      ASSERT_EQ(overlap(a, b), meet) << describe(a) << " " << describe(b);
    }
  EXPECT_GT(shared, 0);
  EXPECT_LT(shared, std::ssize(views) * std::ssize(views));
}

TEST(OverlapsItself, AgreesWithTheSetOfAddresses) {
  std::vector<char> memory(4096);
  int shared = 0, views = 0;
  for (Index row : {-7, -3, 0, 1, 2, 3, 4, 5, 12})
    for (Index column : {-2, 0, 1, 2, 3, 4, 6})
      for (Index depth : {-1, 1, 5, 24})
        for (Index rows : {0, 1, 3}) {
          ConstView view = make_view(memory.data() + 1024, DType::i32, {rows, 4, 2});
          view.stride = {row, column, depth, 0};
          std::set<Index> addresses;
          for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < 4; ++j)
              for (Index k = 0; k < 2; ++k) addresses.insert(view.offset({i, j, k}));
          const bool meet = std::ssize(addresses) < view.size();
          shared += meet, ++views;
          ASSERT_EQ(overlaps_itself(view), meet) << describe(view);
        }
  EXPECT_GT(shared, 0);
  EXPECT_LT(shared, views);
}

TEST(SameElements, LooksAtTheStridesThatAreUsed) {
  const Tensor x = Tensor::zeros(DType::f32, {1, 3});
  View other = x.view();
  other.stride[0] = 77;  // of an axis with one element
  EXPECT_TRUE(same_elements(x, other));
  other.stride[1] = 2;
  EXPECT_FALSE(same_elements(x, other));
  EXPECT_FALSE(same_elements(x, slice(x.view(), 1, 0, 2)));
  EXPECT_FALSE(same_elements(x, x.clone()));
}

}  // namespace
}  // namespace heed
