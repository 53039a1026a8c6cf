#include "heed/ops/gemm.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

struct ThreadCount {
  explicit ThreadCount(int threads) : saved(thread_count()) { set_thread_count(threads); }
  ~ThreadCount() { set_thread_count(saved); }
  int saved;
};

// A [rows, columns] view into a wider matrix, stored either way round.
ConstView stored(const Tensor& pool, Index rows, Index columns, bool transposed) {
  ConstView view = pool;
  view.rank = 2;
  view.shape = {rows, columns, 1, 1};
  view.stride = {columns + 5, 1, 0, 0};
  if (transposed) view.stride = {1, rows + 5, 0, 0};
  return view;
}

TEST(Gemm, AgreesWithDoubleInEveryLayout) {
  const Tensor a_pool = random_tensor(DType::f32, {400 * 1000}, 1), b_pool = random_tensor(DType::f32, {400 * 1000}, 2);
  const Index shapes[][3] = {{1, 1, 1},      {1, 7, 3},      {5, 1, 9},     {3, 4, 0},
                             {64, 64, 64},   {33, 65, 129},  {100, 1, 300}, {1, 300, 100},
                             {300, 130, 70}, {70, 40, 1100}, {17, 9, 1024}, {130, 257, 513}};
  for (const auto& [m, n, k] : shapes) {
    for (int layout = 0; layout < 8; ++layout) {
      const ConstView a = stored(a_pool, m, k, layout & 1), b = stored(b_pool, k, n, layout & 2);
      const Tensor c_memory = random_tensor(DType::f32, {m, n}, 3), transposed = random_tensor(DType::f32, {n, m}, 3);
      View c = layout & 4 ? transpose(transposed.view(), 0, 1) : c_memory.view();
      const Tensor a64 = Tensor::copy_of(a).to(DType::f64), b64 = Tensor::copy_of(b).to(DType::f64);
      const Tensor c64 = Tensor::copy_of(c).to(DType::f64);
      const GemmOptions options{.accumulate = (m + layout) % 2 == 0, .alpha = (n + layout) % 3 == 0 ? 0.7f : 1.0f};
      gemm(a64, b64, c64, options);
      gemm(a, b, c, options);
      ASSERT_LT(largest_difference(c, c64), 2e-4) << m << " " << n << " " << k << " layout " << layout;
    }
  }
}

TEST(Gemm, ARowHasTheSameBitsWhateverTheNumberOfRows) {
  const Index most = 300;
  for (const auto& [n, k] : std::vector<std::pair<Index, Index>>{{1, 1},
                                                                 {1, 33},
                                                                 {1, 700},
                                                                 {7, 3},
                                                                 {14, 32},
                                                                 {32, 14},
                                                                 {33, 130},
                                                                 {128, 128},
                                                                 {100, 513},
                                                                 {64, 1030},
                                                                 {515, 65}}) {
    const Tensor a_pool = random_tensor(DType::f32, {(most + 5) * (k + 5)}, 4);
    const Tensor b_pool = random_tensor(DType::f32, {(n + 5) * (k + 5)}, 5), bias = random_tensor(DType::f32, {n}, 6);
    for (int layout = 0; layout < 4; ++layout) {
      const ConstView a = stored(a_pool, most, k, layout & 1), b = stored(b_pool, k, n, layout & 2);
      for (const GemmOptions& options :
           {GemmOptions{}, GemmOptions{.alpha = 0.3}, GemmOptions{.bias = bias}, GemmOptions{.accumulate = true},
            GemmOptions{.accumulate = true, .alpha = 1.7}}) {
        const Tensor start = random_tensor(DType::f32, {most, n}, 7), all = start.clone();
        gemm(a, b, all, options);
        for (Index m : {1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 48, 64, 65, 70}) {
          const Index from = (m * 37) % (most - m);
          const Tensor some = Tensor::copy_of(slice(start, 0, from, from + m));
          gemm(slice(a, 0, from, from + m), b, some, options);
          ASSERT_TRUE(same_bits(some, slice(all, 0, from, from + m)))
              << "n " << n << " k " << k << " m " << m << " layout " << layout << " alpha " << options.alpha;
        }
      }
    }
  }
}

TEST(Gemm, LayoutChangesNoBit) {
  const Tensor a = random_tensor(DType::f32, {90, 600}, 8), b = random_tensor(DType::f32, {600, 75}, 9);
  const Tensor at = Tensor::copy_of(transpose(a.view(), 0, 1)), bt = Tensor::copy_of(transpose(b.view(), 0, 1));
  const Tensor expected = Tensor::zeros(DType::f32, {90, 75}), c = expected.clone(),
               ct = Tensor::zeros(DType::f32, {75, 90});
  gemm(a, b, expected);
  gemm(transpose(at.view(), 0, 1), b, c);
  EXPECT_TRUE(same_bits(c, expected));
  gemm(a, transpose(bt.view(), 0, 1), c);
  EXPECT_TRUE(same_bits(c, expected));
  gemm(a, b, transpose(ct.view(), 0, 1));
  EXPECT_TRUE(same_bits(transpose(ct.view(), 0, 1), expected));
}

TEST(Gemm, ThreadsChangeNoBit) {
  const Index shapes[][3] = {{700, 200, 130}, {128, 128, 4088}, {9, 2000, 128}, {1, 3000, 128}, {1000, 1, 500}};
  for (const auto& [m, n, k] : shapes) {
    const Tensor a = random_tensor(DType::f32, {k, m}, 10), b = random_tensor(DType::f32, {n, k}, 11);
    const Tensor expected = Tensor::zeros(DType::f32, {m, n});
    for (int threads : {1, 2, 3}) {
      const ThreadCount scope(threads);
      const Tensor c = Tensor::zeros(DType::f32, {m, n});
      gemm(transpose(a.view(), 0, 1), transpose(b.view(), 0, 1), threads == 1 ? expected : c);
      if (threads > 1) {
        EXPECT_TRUE(same_bits(c, expected)) << m << " " << n << " " << k << " threads " << threads;
      }
    }
  }
}

TEST(Gemm, RunsInsideAParallelLoop) {
  const Tensor a = random_tensor(DType::f32, {64, 300}, 12), b = random_tensor(DType::f32, {300, 200}, 13);
  const Tensor expected = Tensor::zeros(DType::f32, {64, 200}), c = Tensor::zeros(DType::f32, {6, 64, 200});
  gemm(a, b, expected);
  const ThreadCount scope(3);
  parallel_for(6, 1, [&](Index begin, Index) { gemm(a, b, select(c.view(), 0, begin)); });
  for (Index i = 0; i < 6; ++i) EXPECT_TRUE(same_bits(select(c.view(), 0, i), expected));
}

TEST(Gemm, HeadsOfAPackedProjectionEqualOneProductEach) {
  const Index batch = 5, heads = 3, rows = 14, width = 32;
  const Tensor q = random_tensor(DType::f32, {batch, rows, heads * width}, 14);
  const Tensor k = random_tensor(DType::f32, {batch, rows, heads * width}, 15);
  const Tensor scores = Tensor::zeros(DType::f32, {batch, heads, rows, rows}),
               one = Tensor::zeros(DType::f32, {rows, rows});
  const Tensor out = Tensor::zeros(DType::f32, {batch, rows, heads * width}),
               mixed = Tensor::zeros(DType::f32, {rows, width});
  const View qh = split_heads(q, heads), kh = split_heads(k, heads), oh = split_heads(out, heads);
  gemm(qh, transpose(kh, 2, 3), scores, {.alpha = 0.25});
  gemm(scores, kh, oh);
  for (Index x = 0; x < batch; ++x) {
    for (Index y = 0; y < heads; ++y) {
      const auto head = [&](View view) { return select(select(view, 0, x), 0, y); };
      gemm(head(qh), transpose(head(kh), 0, 1), one, {.alpha = 0.25});
      ASSERT_TRUE(same_bits(head(scores), one));
      gemm(head(scores), head(kh), mixed);
      ASSERT_TRUE(same_bits(head(oh), mixed));
    }
  }
}

TEST(Gemm, ABatchStrideOfZeroBroadcasts) {
  const Tensor a = random_tensor(DType::f32, {4, 10, 6}, 16), b = random_tensor(DType::f32, {6, 7}, 17);
  const Tensor c = Tensor::zeros(DType::f32, {4, 10, 7}), one = Tensor::zeros(DType::f32, {10, 7});
  ConstView shared = b;
  shared.rank = 3, shared.shape = {4, 6, 7, 1}, shared.stride = {0, 7, 1, 0};
  gemm(a, shared, c);
  for (Index x = 0; x < 4; ++x) {
    gemm(select(a.view(), 0, x), b, one);
    EXPECT_TRUE(same_bits(select(c.view(), 0, x), one));
  }
}

TEST(Gemm, EveryTargetAgreesWithDoubleAndKeepsRows) {
  const Tensor a = random_tensor(DType::f32, {120, 600}, 18), b = random_tensor(DType::f32, {600, 70}, 19);
  const Tensor exact = Tensor::zeros(DType::f64, {120, 70});
  gemm(a.to(DType::f64), b.to(DType::f64), exact);
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    const Tensor c = Tensor::zeros(DType::f32, {120, 70}), row = Tensor::zeros(DType::f32, {1, 70});
    gemm(a, b, c);
    EXPECT_LT(largest_difference(c, exact), 1e-4) << simd_target_name(target);
    for (Index i = 0; i < 120; i += 7) {
      gemm(slice(a, 0, i, i + 1), b, row);
      EXPECT_TRUE(same_bits(row, slice(c, 0, i, i + 1))) << simd_target_name(target);
    }
  }
  force_simd_target(0);
}

TEST(Gemm, AnEmptyDepthGivesZerosOrTheBias) {
  const Tensor c = random_tensor(DType::f32, {2, 3}, 20), bias = random_tensor(DType::f32, {3}, 21);
  const Tensor before = c.clone(), a = Tensor::empty(DType::f32, {2, 0}), b = Tensor::empty(DType::f32, {0, 3});
  gemm(a, b, c, {.accumulate = true});
  EXPECT_TRUE(same_bits(c, before));
  gemm(a, b, c, {.bias = bias});
  EXPECT_TRUE(same_bits(slice(c, 0, 1, 2), reshape(bias, {1, 3})));
  gemm(a, b, c);
  EXPECT_TRUE(same_bits(c, Tensor::zeros(DType::f32, {2, 3})));
}

TEST(Gemm, NoRowsAreNoWork) {
  const Tensor a = Tensor::zeros(DType::f32, {0, 4}), b = Tensor::zeros(DType::f32, {4, 3}),
               c = Tensor::zeros(DType::f32, {0, 3});
  EXPECT_NO_THROW(gemm(a, b, c));
}

TEST(Gemm, NamesTheShapesItRefuses) {
  const Tensor a = Tensor::zeros(DType::f32, {2, 4}), b = Tensor::zeros(DType::f32, {3, 5}),
               c = Tensor::zeros(DType::f32, {2, 5});
  const std::string message = refusal([&] { gemm(a, b, c); });
  EXPECT_NE(message.find("gemm"), std::string::npos) << message;
  EXPECT_NE(message.find("f32 [3, 5]"), std::string::npos) << message;
  const Tensor b64 = Tensor::zeros(DType::f64, {4, 5}), square = Tensor::zeros(DType::f32, {4, 4});
  EXPECT_THROW(gemm(a, b64, c), Error);
  View gaps = Tensor::zeros(DType::f32, {4, 8});
  const Tensor kept = Tensor::zeros(DType::f32, {8, 8});
  gaps = kept;
  gaps.shape = {4, 4, 1, 1}, gaps.stride = {16, 2, 0, 0};
  EXPECT_THROW(gemm(square, square, gaps), Error);
  EXPECT_THROW(gemm(square, square, square.clone(), {.bias = a}), Error);
}

}  // namespace
}  // namespace heed
