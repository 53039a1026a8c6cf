#include "heed/ops/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/dropout.h"
#include "heed/kernels/target.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::same_bits;
using testing::weighted_sum;

constexpr DropoutKey kDropoutKey{0xFEDCBA9876543210u, 0x0123456789ABCDEFu};

TEST(Dropout, BitsAreThoseOfPhiloxOnEveryTarget) {
  // Counters on both sides of 2^32, where the carry shows.
  for (std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{8 * 13}, (std::uint64_t{1} << 35) - 80, ~std::uint64_t{0} - 7999}) {
    for (std::int64_t target : simd_targets()) {
      force_simd_target(target);
      for (std::size_t n : {1, 7, 8, 9, 511, 512, 1500}) {
        std::vector<std::uint16_t> bits(n + 1, 0xABCD);
        kernels::dropout_bits(kDropoutKey.seed, kDropoutKey.stream, first, bits.data(), n);
        for (std::size_t i = 0; i < n; ++i) {
          const std::uint64_t index = first + i;
          const std::uint32_t word = philox(kDropoutKey.seed, kDropoutKey.stream, index / 8)[index % 8 / 2];
          ASSERT_EQ(bits[i], (word >> (16 * (index % 2))) & 0xFFFF) << simd_target_name(target) << " " << index;
        }
        EXPECT_EQ(bits[n], 0xABCD);
      }
    }
  }
  force_simd_target(0);
}

TEST(Dropout, KeepsWhatDropoutKeepsSaysAndScalesIt) {
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    for (DType dtype : {DType::f32, DType::f64}) {
      for (Index width : {1, 3, 17, 31, 700}) {
        for (double p : {0.0, 0.1, 0.5, 0.9}) {
          const Tensor x = random_tensor(dtype, {3, width}, 1), y = Tensor::empty_like(x);
          dropout(x, p, kDropoutKey, y);
          const Tensor x64 = x.to(DType::f64), y64 = y.to(DType::f64);
          for (Index i = 0; i < x.size(); ++i) {
            const double expected = dropout_keeps(p, kDropoutKey, i) ? x64.data<double>()[i] * dropout_scale(p) : 0;
            EXPECT_NEAR(y64.data<double>()[i], expected, std::abs(expected) * 0x1p-23);
          }
        }
      }
    }
  }
  force_simd_target(0);
}

TEST(Dropout, DropsTheShareItIsAskedToAndKeepsTheMean) {
  const Index n = 1 << 20;
  const Tensor x = Tensor::empty(DType::f32, {n}), y = Tensor::empty(DType::f32, {n});
  fill(x, 1);
  for (double p : {0.1, 0.3, 0.75}) {
    dropout(x, p, kDropoutKey, y);
    Index dropped = 0;
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      dropped += y.data<float>()[i] == 0;
      sum += y.data<float>()[i];
    }
    const double sigma = std::sqrt(p * (1 - p) / static_cast<double>(n));
    EXPECT_NEAR(static_cast<double>(dropped) / n, p, 5 * sigma);
    EXPECT_NEAR(sum / n, 1, 5 * sigma / (1 - p));
  }
}

TEST(Dropout, ZeroCopiesAndOneClears) {
  const Tensor x = random_tensor(DType::f32, {5, 33}, 1), y = Tensor::empty_like(x);
  dropout(x, 0, kDropoutKey, y);
  EXPECT_TRUE(same_bits(x, y));
  dropout(x, 1, kDropoutKey, y);
  EXPECT_EQ(largest_difference(y, Tensor::zeros_like(x)), 0);
}

TEST(Dropout, AnotherSeedOrStreamIsAnotherMask) {
  const Tensor x = Tensor::empty(DType::f32, {1000}), y = Tensor::empty_like(x), z = Tensor::empty_like(x);
  fill(x, 1);
  dropout(x, 0.5, {1, 2}, y);
  for (DropoutKey other : {DropoutKey{2, 2}, DropoutKey{1, 3}}) {
    dropout(x, 0.5, other, z);
    Index differ = 0;
    for (Index i = 0; i < 1000; ++i) differ += y.data<float>()[i] != z.data<float>()[i];
    EXPECT_NEAR(static_cast<double>(differ), 500, 80);
  }
}

TEST(Dropout, HasTheSameBitsOnAnyThreadsAndTargetsAndInPlace) {
  const Tensor x = random_tensor(DType::f32, {51, 1003}, 1), y = Tensor::empty_like(x);
  const int before = thread_count();
  set_thread_count(1);
  dropout(x, 0.1, kDropoutKey, y);
  for (int threads : {2, 3}) {
    set_thread_count(threads);
    for (std::int64_t target : simd_targets()) {
      force_simd_target(target);
      const Tensor z = x.clone();
      dropout(z, 0.1, kDropoutKey, z);
      EXPECT_TRUE(same_bits(y, z));
    }
  }
  force_simd_target(0);
  set_thread_count(before);
}

TEST(Dropout, AddIsDropoutThenTheSum) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = random_tensor(dtype, {7, 129}, 1), residual = random_tensor(dtype, {7, 129}, 2);
    const Tensor y = Tensor::empty_like(x), expected = Tensor::empty_like(x);
    dropout(x, 0.3, kDropoutKey, expected);
    for (Index i = 0; i < x.size(); ++i) {
      if (dtype == DType::f32) expected.data<float>()[i] += residual.data<float>()[i];
      if (dtype == DType::f64) expected.data<double>()[i] += residual.data<double>()[i];
    }
    dropout_add(x, 0.3, kDropoutKey, residual, y);
    EXPECT_TRUE(same_bits(y, expected));
    dropout_add(x, 0.3, kDropoutKey, residual, residual);
    EXPECT_TRUE(same_bits(residual, expected));
  }
}

TEST(Dropout, IsItsOwnBackward) {
  const Tensor x = random_tensor(DType::f64, {4, 9}, 1), dy = random_tensor(DType::f64, {4, 9}, 2);
  const Tensor y = Tensor::empty_like(x), dx = Tensor::empty_like(x);
  dropout(dy, 0.4, kDropoutKey, dx);
  EXPECT_LT(gradient_error([&] { return dropout(x, 0.4, kDropoutKey, y), weighted_sum(y, dy); }, x, dx), 1e-8);
}

TEST(Dropout, NanStaysWhereItIsKept) {
  const Tensor x = Tensor::empty(DType::f32, {64}), y = Tensor::empty_like(x);
  fill(x, std::nan(""));
  dropout(x, 0.5, kDropoutKey, y);
  for (Index i = 0; i < 64; ++i) EXPECT_EQ(std::isnan(y.data<float>()[i]), dropout_keeps(0.5, kDropoutKey, i));
}

TEST(Dropout, RefusesProbabilitiesAndViews) {
  const Tensor x = Tensor::zeros(DType::f32, {4}), y = Tensor::zeros(DType::f32, {5});
  EXPECT_THROW(dropout(x, -0.1, kDropoutKey, x), Error);
  EXPECT_THROW(dropout(x, 1.1, kDropoutKey, x), Error);
  EXPECT_THROW(dropout(x, std::nan(""), kDropoutKey, x), Error);
  EXPECT_THROW(dropout(x, 0.1, kDropoutKey, y), Error);
  EXPECT_THROW(dropout_add(x, 0.1, kDropoutKey, y, x), Error);
  EXPECT_THROW(dropout_add(x, 0.1, kDropoutKey, View(), x), Error);
}

}  // namespace
}  // namespace heed
