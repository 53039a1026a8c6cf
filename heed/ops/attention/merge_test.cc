#include "heed/ops/attention/merge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/attention/attention.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/not_finite.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::kInfinity;
using testing::kNaN;
using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using testing::weighted_sum;

struct Part {
  Tensor out, stat;
  Part(DType dtype, Index queries, Index width)
      : out(Tensor::zeros(dtype, {2, 4, queries, width})),
        stat(Tensor::zeros(dtype == DType::f64 ? DType::f64 : DType::f32, {2, 4, queries})) {}
  operator AttentionPart() const { return {out, stat}; }    // NOLINT: a part is used as one
  operator MergedAttention() const { return {out, stat}; }  // NOLINT
};

Part random_part(DType dtype, Index queries, Index width, std::uint64_t seed) {
  Part part(dtype, queries, width);
  part.out = random_tensor(dtype, {2, 4, queries, width}, seed);
  part.stat = random_tensor(part.stat.dtype(), {2, 4, queries}, seed + 100, 2);
  return part;
}

// Attention to the keys [begin, end) alone.
Part attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& allowed, Index begin, Index end) {
  Part part(q.dtype(), q.dim(2), v.dim(3));
  Workspace workspace;
  attention(q, slice(k.view(), 2, begin, end), slice(v.view(), 2, begin, end),
            {.mask = Mask::boolean(allowed.through(slice(allowed.view(), 3, begin, end)))},
            {.out = part.out, .row_stat = part.stat}, workspace);
  return part;
}

TEST(MergeAttention, KeysSplitAnywhereGiveTheWhole) {
  for (const auto& [dtype, tolerance] : {std::pair{DType::f64, 1e-14}, std::pair{DType::f32, 2e-6}}) {
    const Tensor q = random_tensor(dtype, {2, 4, 3, 8}, 1, 3), k = random_tensor(dtype, {2, 2, 9, 8}, 2);
    const Tensor v = random_tensor(dtype, {2, 2, 9, 5}, 3);
    const Tensor allowed = Tensor::zeros(DType::boolean, {1, 4, 3, 9});
    for (Index h = 0; h < 4; ++h) {
      for (Index j = 0; j < 9; ++j) {  // head 1 sees the last keys only, head 3 the first only, row 2 of head 2 none
        for (Index i = 0; i < 3; ++i) {
          allowed.at<std::uint8_t>({0, h, i, j}) = (h != 1 || j >= 6) && (h != 3 || j < 4) && (h != 2 || i != 2);
        }
      }
    }
    const Part whole = attend(q, k, v, allowed, 0, 9);
    for (Index split = 1; split < 9; ++split) {
      SCOPED_TRACE(split);
      const Part a = attend(q, k, v, allowed, 0, split), b = attend(q, k, v, allowed, split, 9);
      const Part merged(dtype, 3, 5);
      merge_attention(a, b, merged);
      EXPECT_LT(largest_difference(merged.out, whole.out), tolerance);
      for (Index i = 0; i < whole.stat.size(); ++i) {
        const double expected = dtype == DType::f64 ? whole.stat.data<double>()[i] : whole.stat.data<float>()[i];
        const double got = dtype == DType::f64 ? merged.stat.data<double>()[i] : merged.stat.data<float>()[i];
        if (std::isinf(expected)) {
          EXPECT_EQ(got, expected);
        } else {
          EXPECT_NEAR(got, expected, tolerance * std::max(1.0, std::abs(expected)));
        }
      }
    }
  }
}

TEST(MergeAttention, GradientsMatchFiniteDifferences) {
  const Part a = random_part(DType::f64, 3, 4, 1), b = random_part(DType::f64, 3, 4, 2), y(DType::f64, 3, 4);
  const Part up = random_part(DType::f64, 3, 4, 3), da(DType::f64, 3, 4), db(DType::f64, 3, 4);
  for (bool with_stat : {true, false}) {
    merge_attention_backward(a, b, up.out, with_stat ? up.stat.view() : View(), {da.out, da.stat, db.out, db.stat});
    const auto loss = [&] {
      merge_attention(a, b, y);
      return weighted_sum(y.out, up.out) + (with_stat ? weighted_sum(y.stat, up.stat) : 0);
    };
    EXPECT_LT(gradient_error(loss, a.out, da.out), 1e-8);
    EXPECT_LT(gradient_error(loss, b.out, db.out), 1e-8);
    EXPECT_LT(gradient_error(loss, a.stat, da.stat), 1e-8);
    EXPECT_LT(gradient_error(loss, b.stat, db.stat), 1e-8);
  }
}

// The output of a side without keys may hold anything.
TEST(MergeAttention, ASideWithoutKeysDoesNotCount) {
  const Part a(DType::f32, 1, 4), b = random_part(DType::f32, 1, 4, 2), y(DType::f32, 1, 4);
  fill(a.out, kNaN);
  fill(a.stat, -kInfinity);
  const Part up = random_part(DType::f32, 1, 4, 3), da(DType::f32, 1, 4), db(DType::f32, 1, 4);
  merge_attention(a, b, y);
  EXPECT_TRUE(same_bits(y.out, b.out) && same_bits(y.stat, b.stat));
  merge_attention(b, a, y);
  EXPECT_TRUE(same_bits(y.out, b.out) && same_bits(y.stat, b.stat));
  merge_attention_backward(a, b, up.out, up.stat, {da.out, da.stat, db.out, db.stat});
  EXPECT_TRUE(same_bits(db.out, up.out) && same_bits(db.stat, up.stat));
  EXPECT_TRUE(same_bits(da.out, Tensor::zeros_like(a.out)) && same_bits(da.stat, Tensor::zeros_like(a.stat)));
}

TEST(MergeAttention, ARowWithoutKeysOnEitherSideIsDead) {
  const Part a = random_part(DType::f32, 2, 4, 1), b = random_part(DType::f32, 2, 4, 2);
  const Part y = random_part(DType::f32, 2, 4, 3), up = random_part(DType::f32, 2, 4, 4);
  fill(a.stat, -kInfinity);
  fill(b.stat, -kInfinity);
  merge_attention(a, b, y);
  const Tensor zeros = Tensor::zeros_like(y.out), no_stat = Tensor::zeros_like(y.stat);
  EXPECT_TRUE(same_bits(y.out, zeros) && same_bits(y.stat, a.stat));
  const Part da = random_part(DType::f32, 2, 4, 5), db = random_part(DType::f32, 2, 4, 6);
  merge_attention_backward(a, b, up.out, up.stat, {da.out, da.stat, db.out, db.stat});
  EXPECT_TRUE(same_bits(da.out, zeros) && same_bits(db.out, zeros));
  EXPECT_TRUE(same_bits(da.stat, no_stat) && same_bits(db.stat, no_stat));
}

// Even where the other side outweighs it beyond what a double can tell.
TEST(MergeAttention, NaNOfASideThatCountsPropagates) {
  for (double difference : {0.0, 50.0, 5000.0}) {
    const Part a = random_part(DType::f64, 1, 2, 1), b = random_part(DType::f64, 1, 2, 2), y(DType::f64, 1, 2);
    fill(a.stat, -difference);
    fill(b.stat, 0);
    a.out.at<double>({0, 1, 0, 1}) = kNaN;
    b.stat.at<double>({1, 2, 0}) = kNaN;
    merge_attention(a, b, y);
    EXPECT_TRUE(std::isnan(y.out.at<double>({0, 1, 0, 1})) && !std::isnan(y.out.at<double>({0, 1, 0, 0})));
    EXPECT_TRUE(std::isnan(y.out.at<double>({1, 2, 0, 0})) && std::isnan(y.stat.at<double>({1, 2, 0})));
  }
}

TEST(MergeAttention, FarStatisticsNeitherOverflowNorLoseTheSmallerWeight) {
  const Part a(DType::f64, 1, 1), b(DType::f64, 1, 1), y(DType::f64, 1, 1);
  fill(a.out, 1);
  fill(a.stat, 900);
  fill(b.stat, 1000);
  merge_attention(a, b, y);
  EXPECT_NEAR(y.out.at<double>({0, 0, 0, 0}) / std::exp(-100.0), 1, 1e-14);
  EXPECT_EQ(y.stat.at<double>({0, 0, 0}), 1000);
}

TEST(MergeAttention, WorksInPlaceOnSixteenBitsAndOnHeadsOfAProjection) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const Part a = random_part(dtype, 3, 4, 1), b = random_part(dtype, 3, 4, 2), y(dtype, 3, 4);
    const Part up = random_part(dtype, 3, 4, 3), da(dtype, 3, 4), db(dtype, 3, 4);
    const Part wide(DType::f32, 3, 4);
    const Tensor held_a = a.out.to(DType::f32), held_b = b.out.to(DType::f32), held_up = up.out.to(DType::f32);
    merge_attention({held_a, a.stat}, {held_b, b.stat}, wide);
    merge_attention(a, b, y);
    EXPECT_TRUE(same_bits(y.out, wide.out.to(dtype)) && same_bits(y.stat, wide.stat));
    const Part wide_da(DType::f32, 3, 4), wide_db(DType::f32, 3, 4);
    merge_attention_backward(a, b, up.out, up.stat, {da.out, da.stat, db.out, db.stat});
    merge_attention_backward({held_a, a.stat}, {held_b, b.stat}, held_up, up.stat,
                             {wide_da.out, wide_da.stat, wide_db.out, wide_db.stat});
    EXPECT_TRUE(same_bits(da.out, wide_da.out.to(dtype)) && same_bits(db.stat, wide_db.stat));
    const Tensor projected = Tensor::empty(dtype, {2, 3, 16});
    copy(b.out, split_heads(projected.view(), 4));
    merge_attention(a, {split_heads(projected.view(), 4), b.stat}, {split_heads(projected.view(), 4), b.stat});
    EXPECT_TRUE(same_bits(Tensor::copy_of(split_heads(projected.view(), 4)), y.out) && same_bits(b.stat, y.stat));
  }
}

TEST(MergeAttention, ThreadsChangeNoBit) {
  const Part a = random_part(DType::f32, 900, 16, 1), b = random_part(DType::f32, 900, 16, 2);
  const Part y(DType::f32, 900, 16), z(DType::f32, 900, 16);
  const int saved = thread_count();
  set_thread_count(1);
  merge_attention(a, b, y);
  set_thread_count(3);
  merge_attention(a, b, z);
  set_thread_count(saved);
  EXPECT_TRUE(same_bits(y.out, z.out) && same_bits(y.stat, z.stat));
}

TEST(MergeAttention, RefusesPartsThatDisagree) {
  const Part a(DType::f32, 3, 4), y(DType::f32, 3, 4), longer(DType::f32, 4, 4), wide(DType::f64, 3, 4);
  EXPECT_EQ(refusal([&] { merge_attention(a, longer, y); }),
            "merge_attention: b.out must be f32 [2, 4, 3, 4] with a unit last stride, but is f32 [2, 4, 4, 4]");
  EXPECT_EQ(refusal([&] {
              merge_attention(a, a, {y.out, wide.stat});
            }),
            "merge_attention: row_stat must be f32 [2, 4, 3], but is f64 [2, 4, 3]");
  EXPECT_THROW(merge_attention(a, wide, y), Error);
  EXPECT_THROW(merge_attention(a, {a.out, {}}, y), Error);
  EXPECT_THROW(merge_attention(a, a, wide), Error);
  EXPECT_THROW(merge_attention_backward(a, a, {}, {}, {}), Error);
  EXPECT_THROW(merge_attention_backward(a, a, a.out, wide.stat, {}), Error);
  EXPECT_THROW(merge_attention_backward(a, a, a.out, {}, {.dout_b = wide.out}), Error);
}

}  // namespace
}  // namespace heed
