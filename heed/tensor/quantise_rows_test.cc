#include "heed/tensor/quantise_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {
namespace {

TEST(QuantiseRows, IsNearestInStepsOfTheLargestOver127) {
  const std::vector<float> rows{127, 0.5f, 1.5f, -2.5f, 0, 0, 0, 0, 1e-45f, 0, 0, 0};
  const Tensor x = Tensor::from(rows, {3, 4});
  const Tensor values = Tensor::empty(DType::i8, {3, 4}), scales = Tensor::empty(DType::f32, {3});
  quantise_rows(x, values, scales);
  EXPECT_EQ(scales.at<float>({0}), 1);
  const int expected[] = {127, 0, 2, -2, 0, 0, 0, 0};  // ties to even
  for (Index i = 0; i < 8; ++i) EXPECT_EQ(values.data<std::int8_t>()[i], expected[i]) << i;
  EXPECT_EQ(scales.at<float>({1}), 0);
  EXPECT_EQ(scales.at<float>({2}), 0);  // too small for a scale
  EXPECT_EQ(values.at<std::int8_t>({2, 0}), 0);
}

TEST(QuantiseRows, ARowIsTheSameInAnyRankAndLayout) {
  std::vector<float> numbers(2 * 3 * 5 * 7);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i * i));
  const Tensor x = Tensor::from(numbers, {2, 3, 5, 7}), flat = x.reshape({30, 7});
  const Tensor flat_values = Tensor::empty(DType::i8, {30, 7}), flat_scales = Tensor::empty(DType::f32, {30});
  quantise_rows(flat, flat_values, flat_scales);
  const Tensor values = Tensor::empty(DType::i8, {2, 5, 3, 9}), scales = Tensor::empty(DType::f32, {5, 3, 2});
  const View values_view = slice(transpose(values.view(), 1, 2), 3, 1, 8);  // [2, 3, 5, 7]
  const View scales_view = transpose(scales.view(), 0, 2);                  // [2, 3, 5]
  quantise_rows(x, values_view, scales_view);
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 3; ++h)
      for (Index l = 0; l < 5; ++l) {
        const Index row = (b * 3 + h) * 5 + l;
        EXPECT_EQ(scales_view.at<float>({b, h, l}), flat_scales.at<float>({row}));
        for (Index d = 0; d < 7; ++d) {
          EXPECT_EQ(values_view.at<std::int8_t>({b, h, l, d}), flat_values.at<std::int8_t>({row, d}));
        }
      }
  const Tensor one = Tensor::empty(DType::f32, {});  // a row by itself
  quantise_rows(select(flat.view(), 0, 4), select(flat_values.view(), 0, 0), one);
  EXPECT_EQ(one.data<float>()[0], flat_scales.at<float>({4}));
}

TEST(QuantiseRows, ARowWithANumberThatIsNotFiniteHasTheScaleNaN) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const Tensor x = Tensor::from(std::vector<float>{1, infinity, nan, 1, 1, 2}, {3, 2});
  const Tensor values = Tensor::empty(DType::i8, {3, 2}), scales = Tensor::empty(DType::f32, {3});
  quantise_rows(x, values, scales);
  EXPECT_TRUE(std::isnan(scales.at<float>({0})));
  EXPECT_TRUE(std::isnan(scales.at<float>({1})));
  EXPECT_EQ(scales.at<float>({2}), 2.0f / 127);
}

}  // namespace
}  // namespace heed
