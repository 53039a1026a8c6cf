#include "heed/tensor/operands.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/tensor/tensor.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

std::string refused(const ConstView& view, bool optional = false) {
  return refusal([&] { check_operand("f", {"x", view, optional}); });
}

TEST(Operand, NeedsMemoryUnlessItHasNoElementsOrIsOptional) {
  const auto nowhere = [](std::initializer_list<Index> shape) {
    return make_view(static_cast<const float*>(nullptr), shape);
  };
  EXPECT_EQ(refused(nowhere({2, 3})), "f: x is an empty view of extents [2, 3]");
  EXPECT_EQ(refused(ConstView()), "f: x is an empty view of extents []");
  EXPECT_EQ(refused(nowhere({2, 0})), "no error");
  EXPECT_EQ(refused(ConstView(), kOptional), "no error");
  EXPECT_EQ(refused(nowhere({2, 3}), kOptional), "no error");
}

TEST(Operand, HasExtentsThatCanBeMultiplied) {
  const float number = 1;
  ConstView view = make_view(&number, {1, 1, 1, 1});
  const auto with = [&](Shape shape, Shape stride = {}) {
    ConstView changed = view;
    changed.shape = shape, changed.stride = stride;
    return refused(changed);
  };
  const Index huge = Index{1} << 61, largest = std::numeric_limits<Index>::max();
  EXPECT_EQ(with({1, 1, huge, 8}), "f: x is too large: f32 of [1, 1, 2305843009213693952, 8] with strides 0, 0, 0, 0");
  EXPECT_EQ(with({1, 1, Index{1} << 54, 1}), "no error");
  EXPECT_NE(with({1, 1, (Index{1} << 54) + 1, 1}), "no error");
  EXPECT_NE(with({0, 1, huge, huge}), "no error");  // sizes are products of these two alone, too
  EXPECT_NE(with({largest, largest, largest, largest}), "no error");
  EXPECT_NE(with({2, 2, 2, 2}, {largest, 1, 1, 1}), "no error");
  EXPECT_NE(with({2, 2, 2, 2}, {std::numeric_limits<Index>::min(), 1, 1, 1}), "no error");
  EXPECT_EQ(with({1, 2, 2, 2}, {largest, 1, 1, 1}), "no error");  // a stride that takes no step
  EXPECT_EQ(with({2, -1, 2, 2}), "f: x is no view: its rank is 4 and its extents are 2, -1, 2, 2");
  view.rank = 2;
  EXPECT_EQ(with({2, 2, 0, 0}), "f: x is no view: its rank is 2 and its extents are 2, 2, 0, 0");
  view.rank = 5;
  EXPECT_NE(with({1, 1, 1, 1}), "no error");
}

TEST(Operands, AreApartOrReplacedWhole) {
  const Tensor memory = Tensor::zeros(DType::f32, {64});
  const auto view = [&](Index first, Index row) {
    View x = make_view(memory.data<float>() + first, {3, 4});
    x.stride[0] = row;
    return x;
  };
  const auto refused_of = [&](const View& y, const ConstView& x, const ConstView& w) {
    return refusal([&] { check_operands("f", {{"x", x}}, {{"y", y}}, {{"w", w, kOptional}}); });
  };
  EXPECT_EQ(refused_of(view(0, 4), view(12, 4), {}), "no error");
  EXPECT_EQ(refused_of(view(0, 8), view(4, 8), {}), "no error");  // interleaved
  EXPECT_EQ(refused_of(view(0, 4), view(11, 4), {}), "f: y overlaps x: f32 [3, 4] and f32 [3, 4]");
  EXPECT_EQ(refused_of(view(0, 4), view(0, 4), {}), "f: y overlaps x: f32 [3, 4] and f32 [3, 4]");
  EXPECT_EQ(refused_of(view(0, 4), view(12, 4), view(0, 4)), "no error");
  EXPECT_EQ(refused_of(view(0, 4), view(16, 4), view(1, 4)), "f: y overlaps a part of w: f32 [3, 4] and f32 [3, 4]");
  EXPECT_EQ(refused_of(view(0, 3), view(16, 4), {}),
            "f: elements of y share memory, but it is written: f32 [3, 4] with strides [3, 1]");
  EXPECT_EQ(refused_of(view(0, 0), view(16, 4), {}),
            "f: elements of y share memory, but it is written: f32 [3, 4] with strides [0, 1]");
  EXPECT_EQ(refusal([&] {
              check_operands("f", {}, {{"y", view(0, 4)}, {"z", view(8, 4)}});
            }),
            "f: z overlaps y: f32 [3, 4] and f32 [3, 4]");
}

}  // namespace
}  // namespace heed
