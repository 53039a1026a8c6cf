#include "heed/ops/attention/tensor_scatter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

// Element by element, as ONNX defines it.
Tensor definition(const Tensor& cache, const Tensor& update, const std::vector<Index>& start, int axis) {
  const Tensor y = cache.clone();
  const View& u = update;
  const std::size_t along = static_cast<std::size_t>(axis);
  for (Index b = 0; b < u.shape[0]; ++b) {
    for (Index i = 0; i < u.shape[1]; ++i) {
      for (Index j = 0; j < u.shape[2]; ++j) {
        for (Index l = 0; l < u.shape[3]; ++l) {
          Shape to{b, i, j, l};
          to[along] = (to[along] + start[static_cast<std::size_t>(b)]) % cache.dim(axis);
          y.at<float>({to[0], to[1], to[2], to[3]}) = u.at<float>({b, i, j, l});
        }
      }
    }
  }
  return y;
}

TEST(TensorScatter, WritesEachSequenceAtItsOwnPlaceAlongAnyAxis) {
  const std::vector<std::vector<Index>> starts = {{0, 0}, {2, 0}, {1, 2}};
  for (int axis : {1, 2, 3}) {
    const Shape extents{2, axis == 1 ? 3 : 4, axis == 2 ? 3 : 4, axis == 3 ? 3 : 4};
    const Tensor cache = random_tensor(DType::f32, {2, axis == 1 ? 5 : 4, axis == 2 ? 5 : 4, axis == 3 ? 5 : 4}, 1);
    const Tensor update = random_tensor(DType::f32, {extents[0], extents[1], extents[2], extents[3]}, 2);
    for (const std::vector<Index>& start : starts) {
      const Tensor y = cache.clone(), places = Tensor::from<std::int64_t>({start[0], start[1]}, {2});
      tensor_scatter(update, places, y, axis);
      EXPECT_TRUE(same_bits(y, definition(cache, update, start, axis)));
      const Tensor z = cache.clone();
      tensor_scatter(update, places, z, axis - 4, ScatterMode::circular);
      EXPECT_TRUE(same_bits(z, y));
    }
  }
}

TEST(TensorScatter, CircularRowsComeRoundToTheStart) {
  const Tensor cache = random_tensor(DType::f32, {2, 3, 5, 4}, 1), update = random_tensor(DType::f32, {2, 3, 4, 4}, 2);
  const Tensor y = cache.clone(), start = Tensor::from<std::int32_t>({3, 19}, {2});
  tensor_scatter(update, start, y, -2, ScatterMode::circular);
  EXPECT_TRUE(same_bits(y, definition(cache, update, {3, 19}, 2)));
}

TEST(TensorScatter, WithoutAStartWritesTheFirstRows) {
  const Tensor cache = random_tensor(DType::f32, {2, 3, 5, 4}, 1), update = random_tensor(DType::f32, {2, 3, 2, 4}, 2);
  const Tensor y = cache.clone();
  tensor_scatter(update, {}, y);
  EXPECT_TRUE(same_bits(y, definition(cache, update, {0, 0}, 2)));
}

TEST(TensorScatter, ConvertsToTheCachesTypeFromTheHeadsOfAProjection) {
  const Tensor projected = random_tensor(DType::f32, {2, 2, 12}, 1);
  const View heads = split_heads(projected.view(), 3);
  const Tensor cache = Tensor::zeros(DType::bf16, {2, 3, 5, 4}), start = Tensor::from<std::int32_t>({3, 0}, {2});
  tensor_scatter(heads, start, cache);
  const Tensor rounded = Tensor::copy_of(heads).to(DType::bf16);
  EXPECT_TRUE(same_bits(slice(slice(cache.view(), 0, 0, 1), 2, 3, 5), slice(rounded.view(), 0, 0, 1)));
  EXPECT_TRUE(same_bits(slice(slice(cache.view(), 0, 1, 2), 2, 0, 2), slice(rounded.view(), 0, 1, 2)));
}

TEST(TensorScatter, RefusesWhatDoesNotFitAndWritesNothing) {
  const Tensor cache = random_tensor(DType::f32, {2, 3, 5, 4}, 1), before = cache.clone();
  const Tensor update = random_tensor(DType::f32, {2, 3, 2, 4}, 2);
  const auto start = [](std::int64_t a, std::int64_t b) { return Tensor::from<std::int64_t>({a, b}, {2}); };
  EXPECT_EQ(refusal([&] { tensor_scatter(update, start(0, 4), cache); }),
            "tensor_scatter: 2 rows from row 4 of batch element 1 do not fit a cache of 5 rows");
  EXPECT_THROW(tensor_scatter(update, start(0, std::numeric_limits<std::int64_t>::max()), cache), Error);
  for (ScatterMode mode : {ScatterMode::linear, ScatterMode::circular}) {
    EXPECT_THROW(tensor_scatter(update, start(0, -1), cache, -2, mode), Error);
    EXPECT_THROW(tensor_scatter(Tensor::zeros(DType::f32, {2, 3, 6, 4}), {}, cache, -2, mode), Error);
  }
  EXPECT_THROW(tensor_scatter(update, start(0, 0), cache, 0), Error);
  EXPECT_THROW(tensor_scatter(update, start(0, 0), cache, 4), Error);
  EXPECT_THROW(tensor_scatter(update, start(0, 0), cache, -5), Error);
  EXPECT_THROW(tensor_scatter(update, start(0, 0), cache, 1), Error);
  EXPECT_THROW(tensor_scatter(update, Tensor::zeros(DType::i32, {3}), cache), Error);
  EXPECT_THROW(tensor_scatter(update, Tensor::zeros(DType::f32, {2}), cache), Error);
  EXPECT_THROW(tensor_scatter(select(update.view(), 0, 0), {}, cache), Error);
  EXPECT_TRUE(same_bits(cache, before));
}

}  // namespace
}  // namespace heed
