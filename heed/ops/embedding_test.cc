#include "heed/ops/embedding.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using testing::weighted_sum;

TEST(Embedding, GathersScaledRows) {
  const Tensor table = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2}),
               ids = Tensor::from<std::int32_t>({2, 0, 2, 1}, {2, 2});
  const Tensor y = Tensor::empty(DType::f32, {2, 2, 2});
  embedding(table, ids, 2, y);
  EXPECT_TRUE(same_bits(y, Tensor::from<float>({10, 12, 2, 4, 10, 12, 6, 8}, {2, 2, 2})));
}

TEST(Embedding, GradientMatchesFiniteDifferences) {
  const Tensor table = random_tensor(DType::f64, {5, 3}, 1), ids = Tensor::from<std::int32_t>({4, 0, 4, 1, 4}, {5});
  const Tensor y = Tensor::empty(DType::f64, {5, 3}), dy = random_tensor(DType::f64, {5, 3}, 2);
  const Tensor dtable = Tensor::zeros_like(table);
  embedding_backward(ids, 1.5, dy, dtable);
  EXPECT_LT(gradient_error([&] { return embedding(table, ids, 1.5, y), weighted_sum(y, dy); }, table, dtable), 1e-8);
}

TEST(Embedding, TheGradientAccumulates) {
  const Tensor ids = Tensor::from<std::int32_t>({1}, {1}), dy = Tensor::from<float>({1, 2}, {1, 2});
  const Tensor dtable = Tensor::from<float>({1, 1, 1, 1}, {2, 2});
  embedding_backward(ids, 3, dy, dtable);
  EXPECT_TRUE(same_bits(dtable, Tensor::from<float>({1, 1, 4, 7}, {2, 2})));
}

TEST(Embedding, ThreadsChangeNoBit) {
  std::vector<std::int32_t> numbers(3000);
  Rng rng(1);
  for (auto& id : numbers) id = static_cast<std::int32_t>(rng.below(20));
  const Tensor ids = Tensor::from(numbers, {3000}), dy = random_tensor(DType::f32, {3000, 70}, 2);
  const Tensor expected = Tensor::zeros(DType::f32, {20, 70});
  const int saved = thread_count();
  for (int threads : {1, 2, 3}) {
    set_thread_count(threads);
    const Tensor dtable = threads == 1 ? expected : Tensor::zeros(DType::f32, {20, 70});
    embedding_backward(ids, 1, dy, dtable);
    EXPECT_TRUE(same_bits(dtable, expected));
  }
  set_thread_count(saved);
}

TEST(Embedding, NoIdsAreNoWork) {
  const Tensor table = Tensor::zeros(DType::f32, {3, 2}), ids = Tensor::empty(DType::i32, {0}),
               y = Tensor::empty(DType::f32, {0, 2});
  EXPECT_NO_THROW(embedding(table, ids, 1, y));
  EXPECT_NO_THROW(embedding_backward(ids, 1, y, table));
}

TEST(Embedding, NamesAnIdOutsideTheTableAndWritesNothing) {
  const Tensor table = Tensor::zeros(DType::f32, {3, 2}), y = random_tensor(DType::f32, {2, 2}, 1), before = y.clone();
  for (std::int32_t bad : {-1, 3}) {
    const Tensor ids = Tensor::from<std::int32_t>({0, bad}, {2});
    EXPECT_EQ(refusal([&] { embedding(table, ids, 1, y); }),
              "embedding: id " + std::to_string(bad) + " at position 1 is outside the table of 3 rows");
    EXPECT_THROW(embedding_backward(ids, 1, y, table), Error);
  }
  EXPECT_TRUE(same_bits(y, before));
  EXPECT_TRUE(same_bits(table, Tensor::zeros(DType::f32, {3, 2})));
}

TEST(Embedding, RefusesShapesThatDisagree) {
  const Tensor table = Tensor::zeros(DType::f32, {3, 2}), ids = Tensor::zeros(DType::i32, {4});
  EXPECT_THROW(embedding(table, ids, 1, Tensor::zeros(DType::f32, {4, 3})), Error);
  EXPECT_THROW(embedding(table, ids, 1, Tensor::zeros(DType::f32, {5, 2})), Error);
  EXPECT_THROW(embedding(table, ids, 1, Tensor::zeros(DType::f64, {4, 2})), Error);
  EXPECT_THROW(embedding(table, Tensor::zeros(DType::i64, {4}), 1, Tensor::zeros(DType::f32, {4, 2})), Error);
}

}  // namespace
}  // namespace heed
