#include "heed/tensor/tensor.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

static_assert(std::is_convertible_v<View, ConstView>);
static_assert(!std::is_constructible_v<View, ConstView>, "what may only be read could be written");
static_assert(!std::is_assignable_v<View&, ConstView>, "what may only be read could be written");

TEST(View, StridesSliceSelectAndTranspose) {
  float x[24];
  for (int i = 0; i < 24; ++i) x[i] = static_cast<float>(i);
  const View v = make_view(x, {2, 3, 4});
  EXPECT_EQ(v.at<float>({1, 2, 3}), 23);
  EXPECT_EQ(transpose(v, 0, 2).at<float>({3, 2, 1}), 23);
  EXPECT_EQ(slice(v, 1, 1, 3).at<float>({1, 0, 0}), 16);
  EXPECT_EQ(select(v, 1, 2).at<float>({1, 3}), 23);
  EXPECT_EQ(select(v, 1, 2).rank, 2);
  EXPECT_FALSE(slice(v, 1, 1, 3).contiguous());
  EXPECT_EQ(describe(slice(v, 2, 0, 2)), "f32 [2, 3, 2] with strides [12, 4, 1]");
  EXPECT_EQ(describe(slice(v, 2, 1, 4, 2)), "f32 [2, 3, 2] with strides [12, 4, 2]");
  EXPECT_EQ(slice(v, 2, 1, 4, 2).at<float>({0, 0, 1}), 3);
  EXPECT_THROW(slice(v, 1, 2, 4), Error);
  EXPECT_THROW(slice(v, 1, 0, 2, 0), Error);
  EXPECT_THROW(reshape(transpose(v, 0, 1), {24}), Error);
}

TEST(View, SplitHeadsIsAReinterpretation) {
  float x[2 * 3 * 4];
  for (int i = 0; i < 24; ++i) x[i] = static_cast<float>(i);
  const View heads = split_heads(make_view(x, {2, 3, 4}), 2);
  EXPECT_EQ(heads.shape, (Shape{2, 2, 3, 2}));
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 2; ++h)
      for (Index l = 0; l < 3; ++l)
        for (Index d = 0; d < 2; ++d) EXPECT_EQ(heads.at<float>({b, h, l, d}), x[(b * 3 + l) * 4 + h * 2 + d]);
}

TEST(Tensor, CopySharesAndCloneDoesNot) {
  Tensor a = Tensor::zeros(DType::f32, {3});
  Tensor shared = a, own = a.clone();
  a.at<float>({1}) = 5;
  EXPECT_EQ(shared.at<float>({1}), 5);
  EXPECT_EQ(own.at<float>({1}), 0);
  EXPECT_FALSE(a.unique());
  EXPECT_TRUE(own.unique());
}

TEST(Tensor, BorrowedMemoryLivesAsLongAsTheLastTensorThatItsOwnerIsIn) {
  bool freed = false;
  const auto release = [&](float* memory) {
    freed = true;
    delete[] memory;
  };
  std::shared_ptr<float> memory(new float[6]{1, 2, 3, 4, 5, 6}, release);
  Tensor part;
  {
    const Tensor whole = Tensor::borrow(make_view(memory.get(), {2, 3}), memory);
    memory = nullptr;
    part = whole.through(transpose(slice(whole.view(), 1, 1, 3), 0, 1));
  }
  EXPECT_FALSE(freed);
  EXPECT_EQ(part.at<float>({1, 1}), 6);
  part = {};
  EXPECT_TRUE(freed);
}

TEST(Tensor, ConvertsBetweenFloatingTypes) {
  const Tensor a = Tensor::from(std::vector<float>{1.5f, -2.0f, 3.25f}, {3});
  for (DType dtype : {DType::f64, DType::bf16, DType::f16}) {
    const Tensor back = a.to(dtype).to(DType::f32);
    for (Index i = 0; i < 3; ++i) EXPECT_EQ(back.at<float>({i}), a.at<float>({i}));
  }
}

TEST(Tensor, RefusesSizesThatNoMachineHas) {
  EXPECT_THROW(Tensor::empty(DType::f32, {Index{1} << 40, Index{1} << 40}), Error);
  EXPECT_THROW(Tensor::empty(DType::f32, {-1}), Error);
  // Neither a product that overflows to something small, nor strides beside an extent of zero.
  EXPECT_THROW(Tensor::empty(DType::f32, {Index{1} << 32, Index{1} << 32}), Error);
  EXPECT_THROW(Tensor::empty(DType::f32, {0, Index{1} << 62, Index{1} << 62}), Error);
  EXPECT_THROW(Tensor::empty(DType::f32, {Index{1} << 62, 0, Index{1} << 62}), Error);
}

TEST(View, RefusesSizesThatNoMachineHas) {
  float x = 0;
  EXPECT_EQ(testing::refusal([&] {
              make_view(&x, {Index{1} << 32, Index{1} << 32});
            }),
            "make_view: the shape [4294967296, 4294967296] is too large");
  EXPECT_THROW(make_view(&x, {0, Index{1} << 62, Index{1} << 62}), Error);
  EXPECT_THROW(make_view(&x, {std::numeric_limits<Index>::max()}), Error);
  EXPECT_EQ(testing::refusal([&] {
              reshape(make_view(&x, {1}), {Index{1} << 32, Index{1} << 32, 1});
            }),
            "reshape: the shape [4294967296, 4294967296, 1] is too large");
  EXPECT_EQ(testing::refusal([&] {
              make_view(&x, {1, 1, 1, 1, 1});
            }),
            "make_view: the rank must be at most 4, but is 5");
}

TEST(Tensor, IsMadeFromAsManyValuesAsItHasElements) {
  const std::vector<float> two = {1, 2}, none;
  EXPECT_EQ(testing::refusal([&] { Tensor::from(two, {3}); }),
            "Tensor::from: the shape has 3 elements, but there are 2 values");
  EXPECT_THROW(Tensor::from(two, {1}), Error);
  EXPECT_EQ(Tensor::from(none, {0, 4}).size(), 0);
}

TEST(Fill, GivesEveryElementTheNumberWhateverTypeSizeAndStrides) {
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i8, DType::i32, DType::i64}) {
    for (Index size : {0, 1, 2, 3, 5, 8, 33, 100}) {
      Tensor tensor = Tensor::zeros(dtype, {size + 2, 2});
      fill(slice(tensor, 0, 1, size + 1), -3);
      if (size > 0) fill(transpose(slice(slice(tensor, 0, 1, size + 1), 1, 1, 2), 0, 1), 5);
      const Tensor wide = tensor.to(DType::f64);
      for (Index i = 0; i < size + 2; ++i) {
        const bool inside = i > 0 && i <= size;
        EXPECT_EQ(wide.at<double>({i, 0}), inside ? -3 : 0);
        EXPECT_EQ(wide.at<double>({i, 1}), inside ? 5 : 0);
      }
    }
  }
}

TEST(Tensor, EmptyOnesAreCopiedFilledAndConverted) {
  const std::vector<float> none;
  const ConstView nothing = make_view(none.data(), {2, 0});  // the data of an empty vector may be null
  for (const Tensor& tensor : {Tensor::copy_of(nothing), Tensor::zeros(DType::f32, {2, 0}).to(DType::f16)}) {
    EXPECT_EQ(tensor.size(), 0);
    fill(tensor, 1);
    EXPECT_EQ(tensor.clone().gather_rows(std::vector<Index>{1, 0, 1}).size(), 0);
  }
}

TEST(Tensor, ZeroExtentsAreLegal) {
  const Tensor a = Tensor::zeros(DType::f32, {0, 4});
  EXPECT_EQ(a.size(), 0);
  EXPECT_FALSE(a.is_empty());
}

}  // namespace
}  // namespace heed
