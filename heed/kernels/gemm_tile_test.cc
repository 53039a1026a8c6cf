#include "heed/kernels/gemm_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/kernels/gemm_ahead.h"
#include "heed/kernels/target.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::random_floats;

struct EveryTarget : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

// One chain in ascending order, as the header promises.
float expected_element(const GemmTile& t, Index i, Index j, float before, bool fused) {
  float sum = 0;
  for (Index p = 0; p < t.k; ++p) {
    const float x = t.a(i, p), y = t.b(p, j);
    if (fused) {
      sum = std::fma(x, y, sum);
    } else {
      const volatile float product = x * y;
      sum += product;
    }
  }
  const volatile float scaled = (t.row_alpha != nullptr ? t.row_alpha[i] : t.alpha) * sum;
  if (t.bias != nullptr) return scaled + t.bias[j];
  if (t.decay != nullptr) {
    if (fused) return std::fma(before, t.decay[j], scaled);
    const volatile float decayed = before * t.decay[j];
    return decayed + scaled;
  }
  return t.accumulate ? scaled + before : scaled;
}

TEST_P(EveryTarget, EqualsOneChainPerElementInEveryShapeAndLayout) {
  const bool fused = gemm_tile_is_fused();
  const std::vector<float> pool = random_floats(100 * 100 * 2, 1), bias = random_floats(100, 2);
  for (Index m : {0, 1, 2, 3, 5, 6, 7, 8, 9, 14, 17, 26, 65, 70}) {
    for (Index n : {1, 2, 7, 8, 13, 16, 17, 31, 32, 33, 48, 64, 70}) {
      for (Index k : {0, 1, 3, 4, 8, 15, 16, 32, 37, 100}) {
        for (int layout = 0; layout < 4; ++layout) {
          const Index slack = 3;
          GemmTile t{.m = m,
                     .n = n,
                     .k = k,
                     .a = {pool.data(), layout & 1 ? 1 : k + slack, layout & 1 ? m + slack : 1},
                     .b = {pool.data() + 50, layout & 2 ? 1 : n + slack, layout & 2 ? k + slack : 1},
                     .c = nullptr,
                     .c_row = n + slack};
          const int kind = static_cast<int>((m + n + k) % 6);
          if (kind == 1) t.bias = bias.data();
          if (kind == 2) t.accumulate = true;
          if (kind == 3) t.alpha = 0.3f, t.accumulate = true;
          if (kind == 4) t.decay = bias.data(), t.accumulate = true;
          if (kind == 5) t.row_alpha = bias.data();
          const std::vector<float> before = random_floats(m * t.c_row, 3);
          std::vector<float> c = before;
          t.c = c.data();
          gemm_tile(t);
          for (Index i = 0; i < m; ++i) {
            for (Index j = 0; j < t.c_row; ++j) {
              const std::size_t at = static_cast<std::size_t>(i * t.c_row + j);
              const float expected = j < n ? expected_element(t, i, j, before[at], fused) : before[at];
              ASSERT_EQ(c[at], expected) << "m " << m << " n " << n << " k " << k << " layout " << layout << " at " << i
                                         << ", " << j;
            }
          }
        }
      }
    }
  }
}

TEST_P(EveryTarget, TakesAnyStridesOfAAndB) {
  const bool fused = gemm_tile_is_fused();
  const std::vector<float> pool = random_floats(4000, 4);
  std::vector<float> c(5 * 20);
  const GemmTile t{.m = 5,
                   .n = 20,
                   .k = 11,
                   .a = {pool.data() + 3000, -40, 3},
                   .b = {pool.data() + 1000, 50, -2},
                   .c = c.data(),
                   .c_row = 20};
  gemm_tile(t);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 20; ++j)
      ASSERT_EQ(c[static_cast<std::size_t>(i * 20 + j)], expected_element(t, i, j, 0, fused));
}

TEST_P(EveryTarget, ContinuesTheChainsOfManyRows) {
  const bool fused = gemm_tile_is_fused();
  const Index m = 600, n = 70, k = 450;
  const std::vector<float> a = random_floats(m * k, 7), b = random_floats(k * n, 8), before = random_floats(m * n, 9);
  for (const bool b_turned : {false, true}) {
    std::vector<float> c = before;
    const GemmTile t{.m = m,
                     .n = n,
                     .k = k,
                     .a = {a.data(), 1, m},
                     .b = {b.data(), b_turned ? 1 : n, b_turned ? k : 1},
                     .c = c.data(),
                     .c_row = n,
                     .alpha = 0.3f,
                     .accumulate = true};
    gemm_tile(t);
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) {
        const std::size_t at = static_cast<std::size_t>(i * n + j);
        ASSERT_EQ(c[at], expected_element(t, i, j, before[at], fused)) << b_turned << " at " << i << ", " << j;
      }
    }
  }
}

TEST_P(EveryTarget, ReachesItsWholeDepth) {
  const bool fused = gemm_tile_is_fused();
  const std::vector<float> a = random_floats(3 * kGemmTileDepth, 5), b = random_floats(40 * kGemmTileDepth, 6);
  std::vector<float> c(3 * 40);
  const GemmTile t{.m = 3,
                   .n = 40,
                   .k = kGemmTileDepth,
                   .a = {a.data(), kGemmTileDepth},
                   .b = {b.data(), 1, kGemmTileDepth},
                   .c = c.data(),
                   .c_row = 40};
  gemm_tile(t);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 40; ++j)
      ASSERT_EQ(c[static_cast<std::size_t>(i * 40 + j)], expected_element(t, i, j, 0, fused));
}

TEST_P(EveryTarget, LinesAheadChangeNoBitAndAreCountedOff) {
  constexpr Index kRows = 13, kDepth = 20, kColumns = 64, kLines = 50;
  const std::vector<float> a = random_floats(kRows * kDepth, 7), b = random_floats(kDepth * kColumns, 8);
  std::vector<float> plain(kRows * kColumns), asking(plain.size());
  GemmTile t{.m = kRows,
             .n = kColumns,
             .k = kDepth,
             .a = {a.data(), kDepth},
             .b = {b.data(), kColumns},
             .c = plain.data(),
             .c_row = kColumns};
  gemm_tile(t);
  const std::vector<const char*> lines(kLines, reinterpret_cast<const char*>(a.data()));
  LinesAhead ahead{lines.data(), kLines};
  t.c = asking.data();
  gemm_tile_ahead(t, ahead);
  EXPECT_EQ(plain, asking);
  EXPECT_EQ(ahead.next - lines.data(), kLines - ahead.left);
  EXPECT_GE(ahead.left, 0);
  EXPECT_EQ((kLines - ahead.left) % kDepth, 0) << "as many as a sum has steps";
}

INSTANTIATE_TEST_SUITE_P(GemmTile, EveryTarget, ::testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return std::string(simd_target_name(target.param)); });

TEST(SimdTarget, ForcesOneOfThisMachinesTargets) {
  const std::int64_t best = active_simd_target();
  const std::vector<std::int64_t> all = simd_targets();
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    EXPECT_EQ(active_simd_target(), target);
    EXPECT_EQ(simd_targets(), all);  // forcing one hides none
  }
  force_simd_target(0);
  EXPECT_EQ(active_simd_target(), best);
  EXPECT_THROW(force_simd_target(std::int64_t{1} << 40), Error);
}

}  // namespace
}  // namespace heed::kernels
