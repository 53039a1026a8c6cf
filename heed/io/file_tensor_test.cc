#include "heed/io/file_tensor.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

TEST(CheckFinite, NamesTheFirstElementThatIsNot) {
  std::vector<float> values(5000, 3e38f);
  for (const DType dtype : {DType::f32, DType::f64}) {
    EXPECT_EQ(refusal([&] { check_finite(Tensor::from(values, {50, 100}).to(dtype), "w"); }), "no error");
  }
  values[4321] = std::numeric_limits<float>::quiet_NaN();
  values[4400] = std::numeric_limits<float>::infinity();
  for (const DType dtype : {DType::f32, DType::f64}) {
    EXPECT_EQ(refusal([&] {
                check_finite(Tensor::from(values, {50, 100}).to(dtype), "w");
              }),
              "w: every element must be finite, but element 4321 is nan");
  }
  const std::vector<float> infinite = {1, 2, -std::numeric_limits<float>::infinity()};
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    EXPECT_EQ(refusal([&] { check_finite(Tensor::from(infinite, {3}).to(dtype), "w"); }),
              "w: every element must be finite, but element 2 is -inf");
  }
  EXPECT_EQ(refusal([] { check_finite(Tensor::empty(DType::f32, {0, 4}), "w"); }), "no error");
}

}  // namespace
}  // namespace heed
