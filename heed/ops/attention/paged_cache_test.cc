#include "heed/ops/attention/paged_cache.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

constexpr Index kCacheHeads = 2, kCacheWidth = 8, kCacheValueWidth = 5;

PagedCacheOptions options(Index pages, Index page = 4) {
  return {
      .key_heads = kCacheHeads, .width = kCacheWidth, .value_width = kCacheValueWidth, .page = page, .pages = pages};
}

// The rows that each sequence should hold: what a cache without pages would be.
struct Plain {
  std::vector<Tensor> k, v;  // [1, Hk, L, D] of each sequence

  void append(const Tensor& new_k, const Tensor& new_v) {
    for (std::size_t b = 0; b < k.size(); ++b) {
      for (auto [all, add] : {std::pair(&k[b], &new_k), std::pair(&v[b], &new_v)}) {
        const ConstView part = slice(ConstView(add->view()), 0, static_cast<Index>(b), static_cast<Index>(b) + 1);
        const Index had = all->is_empty() ? 0 : all->dim(2);
        const Tensor longer = Tensor::zeros(DType::f32, {1, kCacheHeads, had + part.shape[2], part.shape[3]});
        if (had > 0) copy(all->view(), slice(longer.view(), 2, 0, had));
        copy(part, slice(longer.view(), 2, had, longer.dim(2)));
        *all = longer;
      }
    }
  }
  void reorder(const std::vector<Index>& from) {
    const Plain before = *this;
    k.clear(), v.clear();
    for (Index source : from) k.push_back(before.k[source]), v.push_back(before.v[source]);
  }
};

void expect_same_attention(const PagedCache& cache, const Plain& plain, std::uint64_t seed) {
  Workspace workspace;
  const Tensor q = random_tensor(DType::f32, {cache.batch(), 4, 1, kCacheWidth}, seed);
  const Tensor out = Tensor::zeros(DType::f32, {cache.batch(), 4, 1, kCacheValueWidth});
  attention(q, cache.keys(), cache.values(), cache.spec(Mask::causal(Anchor::length)), {.out = out}, workspace);
  for (Index b = 0; b < cache.batch(); ++b) {
    const Tensor alone = Tensor::zeros(DType::f32, {1, 4, 1, kCacheValueWidth});
    attention(slice(q.view(), 0, b, b + 1), plain.k[b], plain.v[b], {.mask = Mask::causal()}, {.out = alone},
              workspace);
    EXPECT_TRUE(same_bits(slice(out.view(), 0, b, b + 1), alone.view())) << "sequence " << b;
  }
}

TEST(PagedCache, GrowsAndIsReorderedAsACacheWithoutPages) {
  PagedCache cache(options(64), 3);
  Plain plain{std::vector<Tensor>(3), std::vector<Tensor>(3)};
  std::uint64_t seed = 0;
  const std::vector<std::vector<Index>> orders{{0, 1, 2}, {2, 2, 0}, {1, 0, 1, 2}, {3, 3, 3, 3}, {0, 1}};
  for (Index rows : {5, 1, 1, 3, 9}) {
    const std::vector<Index>& order = orders[static_cast<std::size_t>(seed / 10)];
    cache.reorder(order), plain.reorder(order);
    const Tensor k = random_tensor(DType::f32, {cache.batch(), kCacheHeads, rows, kCacheWidth}, ++seed);
    const Tensor v = random_tensor(DType::f32, {cache.batch(), kCacheHeads, rows, kCacheValueWidth}, ++seed);
    cache.append(k, v), plain.append(k, v);
    expect_same_attention(cache, plain, ++seed);
    seed = (seed / 10 + 1) * 10;
  }
}

TEST(PagedCache, SharesPagesBetweenBeamsAndFreesThem) {
  PagedCache cache(options(8), 1);
  const auto rows = [](Index batch, Index count, Index width) {
    return random_tensor(DType::f32, {batch, kCacheHeads, count, width}, 1);
  };
  cache.append(rows(1, 6, kCacheWidth), rows(1, 6, kCacheValueWidth));  // two pages, the second half full
  EXPECT_EQ(cache.free_pages(), 6);
  cache.reorder(std::vector<Index>{0, 0, 0});
  EXPECT_EQ(cache.free_pages(), 6);
  cache.append(rows(3, 1, kCacheWidth), rows(3, 1, kCacheValueWidth));  // two of the three copy the half-full page
  EXPECT_EQ(cache.free_pages(), 4);
  cache.reorder(std::vector<Index>{1});
  EXPECT_EQ(cache.free_pages(), 6);
  cache.reorder(std::vector<Index>{});
  EXPECT_EQ(cache.free_pages(), 8);
}

TEST(PagedCache, AdmitsSequencesOfLengthsOfTheirOwnAndGrowsWithThem) {
  PagedCache cache(options(0));
  Plain plain;
  const std::vector<Index> lengths{9, 0, 4};
  std::uint64_t seed = 0;
  for (int round = 0; round < 3; ++round) {
    const Tensor k = random_tensor(DType::f32, {3, kCacheHeads, 9, kCacheWidth}, ++seed);
    const Tensor v = random_tensor(DType::f32, {3, kCacheHeads, 9, kCacheValueWidth}, ++seed);
    cache.admit(k, v, lengths);
    cache.admit(1);
    for (Index b = 0; b < 3; ++b) {
      const auto own = [&](const Tensor& rows) {
        return lengths[b] == 0 ? Tensor() : Tensor::copy_of(slice(slice(rows.view(), 0, b, b + 1), 2, 0, lengths[b]));
      };
      plain.k.push_back(own(k)), plain.v.push_back(own(v));
    }
    plain.k.emplace_back(), plain.v.emplace_back();
    const Tensor k1 = random_tensor(DType::f32, {cache.batch(), kCacheHeads, 1, kCacheWidth}, ++seed);
    const Tensor v1 = random_tensor(DType::f32, {cache.batch(), kCacheHeads, 1, kCacheValueWidth}, ++seed);
    cache.append(k1, v1), plain.append(k1, v1);
    expect_same_attention(cache, plain, ++seed);
  }
  EXPECT_EQ(cache.batch(), 12);
  EXPECT_EQ(cache.length(4), 11);
}

TEST(PagedCache, WhatIsTakenBackIsGone) {
  PagedCache cache(options(16), 2);
  Plain plain{std::vector<Tensor>(2), std::vector<Tensor>(2)};
  const auto rows = [](Index batch, Index count, Index width, std::uint64_t seed) {
    return random_tensor(DType::f32, {batch, kCacheHeads, count, width}, seed);
  };
  const Tensor k = rows(2, 7, kCacheWidth, 1), v = rows(2, 7, kCacheValueWidth, 2);
  cache.append(k, v), plain.append(k, v);
  cache.reorder(std::vector<Index>{0, 0, 1}), plain.reorder({0, 0, 1});
  cache.append(rows(3, 3, kCacheWidth, 3), rows(3, 3, kCacheValueWidth, 4));
  cache.truncate(3);
  EXPECT_EQ(cache.length(1), 7);
  const Tensor k1 = rows(3, 2, kCacheWidth, 5), v1 = rows(3, 2, kCacheValueWidth, 6);
  cache.append(k1, v1), plain.append(k1, v1);
  expect_same_attention(cache, plain, 7);
  cache.truncate(9);
  EXPECT_EQ(cache.free_pages(), 16);
  EXPECT_EQ(refusal([&] { cache.truncate(1); }), "PagedCache::truncate: a sequence of 0 rows cannot lose 1");
}

TEST(PagedCache, KeepsSixteenBitsWhereAsked) {
  PagedCacheOptions narrow = options(4);
  narrow.dtype = DType::bf16;
  PagedCache cache(narrow, 1);
  const Tensor k = random_tensor(DType::f32, {1, kCacheHeads, 3, kCacheWidth}, 1);
  const Tensor v = random_tensor(DType::f32, {1, kCacheHeads, 3, kCacheValueWidth}, 2);
  cache.append(k, v);
  EXPECT_EQ(cache.keys().dtype, DType::bf16);
  Workspace workspace;
  const Tensor q = random_tensor(DType::f32, {1, 2, 1, kCacheWidth}, 3);
  const Tensor out = Tensor::zeros(DType::f32, {1, 2, 1, kCacheValueWidth}), rounded = Tensor::zeros_like(out);
  attention(q, cache.keys(), cache.values(), cache.spec(), {.out = out}, workspace);
  attention(q, k.to(DType::bf16), v.to(DType::bf16), {}, {.out = rounded}, workspace);
  EXPECT_TRUE(same_bits(out.view(), rounded.view()));
}

TEST(PagedCache, RefusesWhatDoesNotFitAndStaysAsItWas) {
  PagedCache cache(options(2), 2);
  const Tensor k = random_tensor(DType::f32, {2, kCacheHeads, 5, kCacheWidth}, 1);
  const Tensor v = random_tensor(DType::f32, {2, kCacheHeads, 5, kCacheValueWidth}, 2);
  EXPECT_EQ(refusal([&] { cache.append(k, v); }), "PagedCache::append: 4 pages are needed, but of 2 only 2 are free");
  EXPECT_EQ(cache.free_pages(), 2);
  EXPECT_EQ(cache.length(0), 0);
  EXPECT_EQ(
      refusal([&] { cache.append(k, k); }),
      "PagedCache::append: k and v must be [2, 2, L, 8] and [2, 2, L, 5], but are f32 [2, 2, 5, 8] and f32 [2, 2, "
      "5, 8]");
  EXPECT_EQ(refusal([&] {
              cache.reorder(std::vector<Index>{0, 2});
            }),
            "PagedCache::reorder: sequence 2 is wanted, but there are 2");
  EXPECT_EQ(refusal([&] {
              cache.admit(k, v, std::vector<Index>{1, 6});
            }),
            "PagedCache::admit: a sequence of 6 of 5 rows is wanted");
  EXPECT_EQ(refusal([&] {
              cache.admit(k, v, std::vector<Index>{5, 5});
            }),
            "PagedCache::admit: 4 pages are needed, but of 2 only 2 are free");
  EXPECT_EQ(cache.batch(), 2);
  EXPECT_EQ(refusal([] { PagedCache wrong(options(2, 0), 1); }),
            "PagedCache: sizes must be at least 1, but are 2 heads, widths 8 and 5, 2 pages of 0 tokens, batch 1");
}

}  // namespace
}  // namespace heed
