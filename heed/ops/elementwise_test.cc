#include "heed/ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::largest_difference;
using testing::random_tensor;
using testing::same_bits;

// Every operator of two operands and a result that it may read.
struct Named {
  const char* name;
  void (*run)(ConstView a, ConstView b, View y);
  double (*truth)(double a, double b, double y);
};

const Named kOperators[] = {
    {"add", add, [](double a, double b, double) { return a + b; }},
    {"subtract", subtract, [](double a, double b, double) { return a - b; }},
    {"multiply", multiply, [](double a, double b, double) { return a * b; }},
    {"scale", [](ConstView a, ConstView, View y) { scale(a, -0.75, y); },
     [](double a, double, double) { return -0.75 * a; }},
    {"add_to", [](ConstView a, ConstView, View y) { add_to(a, y); }, [](double a, double, double y) { return y + a; }},
    {"add_scaled_to", [](ConstView a, ConstView, View y) { add_scaled_to(a, 0.375, y); },
     [](double a, double, double y) { return y + 0.375 * a; }},
    {"add_product_to", add_product_to, [](double a, double b, double y) { return y + a * b; }},
};

TEST(Elementwise, MatchesTheDefinitionOnEveryTarget) {
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    for (const Named& op : kOperators) {
      for (DType dtype : {DType::f32, DType::f64}) {
        for (Index width : {1, 3, 17, 31, 257}) {
          const Tensor a = random_tensor(dtype, {3, width}, 1), b = random_tensor(dtype, {3, width}, 2);
          const Tensor y = random_tensor(dtype, {3, width}, 3);
          const Tensor p = a.to(DType::f64), q = b.to(DType::f64), expected = y.to(DType::f64).clone();
          for (Index i = 0; i < p.size(); ++i) {
            double& e = expected.data<double>()[i];
            e = op.truth(p.data<double>()[i], q.data<double>()[i], e);
          }
          op.run(a, b, y);
          // Two roundings of terms whose size is at most about 10.
          EXPECT_LT(largest_difference(y, expected), dtype == DType::f32 ? 10 * 0x1p-23 : 1e-14) << op.name;
        }
      }
    }
  }
  force_simd_target(0);
}

TEST(Elementwise, HasTheSameBitsOnAnyThreadsAndForAPart) {
  const Tensor a = random_tensor(DType::f32, {53, 1003}, 1), b = random_tensor(DType::f32, {53, 1003}, 2);
  const Tensor c = random_tensor(DType::f32, {53, 1003}, 3);
  const int before = thread_count();
  for (const Named& op : kOperators) {
    set_thread_count(1);
    const Tensor once = c.clone();
    op.run(a, b, once);
    for (int threads : {2, 3}) {
      set_thread_count(threads);
      const Tensor again = c.clone();
      op.run(a, b, again);
      EXPECT_TRUE(same_bits(once, again)) << op.name;
    }
    const Tensor row = Tensor::copy_of(slice(c, 0, 7, 8));
    op.run(slice(a, 0, 7, 8), slice(b, 0, 7, 8), row);
    EXPECT_TRUE(same_bits(row, slice(once, 0, 7, 8))) << op.name;
  }
  set_thread_count(before);
}

TEST(Elementwise, NanPropagates) {
  for (DType dtype : {DType::f32, DType::f64}) {
    for (const Named& op : kOperators) {
      const Tensor a = Tensor::from<double>({1, std::nan(""), 2}, {3}).to(dtype), y = Tensor::zeros(dtype, {3});
      op.run(a, a, y);
      const Tensor out = y.to(DType::f64);
      EXPECT_TRUE(std::isnan(out.at<double>({1}))) << op.name;
      EXPECT_FALSE(std::isnan(out.at<double>({0})) || std::isnan(out.at<double>({2}))) << op.name;
    }
  }
}

TEST(Elementwise, AddRowAddsToEveryRowAndSumRowsIsItsGradient) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = random_tensor(dtype, {150, 2, 33}, 1), row = random_tensor(dtype, {2, 33}, 2);
    const Tensor y = Tensor::empty_like(x), sum = random_tensor(dtype, {2, 33}, 3);
    const Tensor x64 = x.to(DType::f64), row64 = row.to(DType::f64), before = sum.to(DType::f64).clone();
    add_row(x, row, y);
    sum_rows_to(x, sum);
    const Tensor y64 = y.to(DType::f64), sum64 = sum.to(DType::f64);
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j < 33; ++j) {
        double total = before.at<double>({i, j});
        for (Index r = 0; r < 150; ++r) {
          total += x64.at<double>({r, i, j});
          EXPECT_NEAR(y64.at<double>({r, i, j}), x64.at<double>({r, i, j}) + row64.at<double>({i, j}), 4e-7);
        }
        EXPECT_NEAR(sum64.at<double>({i, j}), total, dtype == DType::f32 ? 150 * 0x1p-23 : 1e-13);
      }
    }
  }
}

TEST(Elementwise, SumRowsHasTheSameBitsOnAnyThreads) {
  const Tensor x = random_tensor(DType::f32, {333, 1025}, 1);
  const int before = thread_count();
  set_thread_count(1);
  const Tensor once = Tensor::zeros(DType::f32, {1025});
  sum_rows_to(x, once);
  for (int threads : {2, 3}) {
    set_thread_count(threads);
    const Tensor again = Tensor::zeros(DType::f32, {1025});
    sum_rows_to(x, again);
    EXPECT_TRUE(same_bits(once, again));
  }
  set_thread_count(before);
}

TEST(Elementwise, SplitUndoesConcatAlsoWithStrides) {
  for (DType dtype : {DType::f32, DType::f64, DType::i32}) {
    const Tensor whole = Tensor::empty(dtype, {2, 5, 9}), joined = Tensor::empty(dtype, {2, 5, 9});
    for (Index i = 0; i < 2 * 5 * 9; ++i) {
      if (dtype == DType::f64) whole.data<double>()[i] = static_cast<double>(i);
      if (dtype == DType::f32) whole.data<float>()[i] = static_cast<float>(i);
      if (dtype == DType::i32) whole.data<std::int32_t>()[i] = static_cast<std::int32_t>(i);
    }
    // The second part lies inside a wider, transposed tensor.
    const Tensor a = Tensor::empty(dtype, {2, 5, 3}), wide = Tensor::empty(dtype, {5, 2, 10});
    const View b = transpose(slice(wide, 2, 1, 7), 0, 1);
    split(whole, std::vector<View>{a, b});
    EXPECT_TRUE(same_bits(a, slice(whole, 2, 0, 3)));
    EXPECT_TRUE(same_bits(b, slice(whole, 2, 3, 9)));
    concat(std::vector<ConstView>{a.view(), b}, joined);
    EXPECT_TRUE(same_bits(joined, whole));
  }
}

TEST(Elementwise, RefusesOperandsThatDoNotFit) {
  const Tensor x = Tensor::zeros(DType::f32, {4, 6}), narrow = Tensor::zeros(DType::f32, {4, 5});
  const Tensor d = Tensor::zeros(DType::f64, {4, 6}), ids = Tensor::zeros(DType::i32, {4, 6});
  EXPECT_THROW(add(x, narrow, x), Error);
  EXPECT_THROW(add(x, d, x), Error);
  EXPECT_THROW(scale(ids, 2, ids), Error);
  EXPECT_THROW(add_to(View(), x), Error);
  EXPECT_THROW(add_row(x, narrow, x), Error);
  EXPECT_THROW(sum_rows_to(x, d), Error);
  EXPECT_THROW(concat(std::vector<ConstView>{x.view()}, narrow), Error);
  EXPECT_THROW(concat(std::vector<ConstView>{narrow.view()}, x), Error);
  EXPECT_THROW(split(x, std::vector<View>{narrow}), Error);
  EXPECT_THROW(split(x, std::vector<View>{d}), Error);
  EXPECT_THROW(concat(std::vector<ConstView>{}, View()), Error);
}

}  // namespace
}  // namespace heed
