// Keys and values of i8 with a scale for each row: the same bits as the rows that they stand for, or, where they are
// multiplied in whole numbers, as good as the bits of plain loops, and a row's own in any company.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/byte_rows.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/double_backward.h"
#include "heed/ops/attention/paged_cache.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_int8.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::attention_kinds;
using testing::AttentionSample;
using testing::forward_answer;
using testing::Int8Rows;
using testing::judge_int8;
using testing::plain_problem;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

TEST(AttentionInt8, EveryPlanGivesTheBitsOfTheRowsThatItStandsForOnEveryTarget) {
  for (std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    Index plans = 0;
    // Few queries and many; more keys than a block; widths that fill no vector.
    for (Index queries : {1, 3, 9}) {
      for (Index width : {5, 24, 64}) {
        for (AttentionSample p : attention_kinds({.batch = 2,
                                 .heads = 6,
                                 .key_heads = 2,
                                 .queries = queries,
                                 .keys = 70,
                                 .width = width,
                                 .value_width = width + 2})) {
          if (p.spec.normaliser.kind != Normaliser::Kind::sum) p.spec.dropout = {.probability = 0.2, .seed = 3};
          const testing::Int8Verdict verdict = judge_int8(p);
          EXPECT_EQ(verdict.complaint, "") << describe(p);
          plans += verdict.of_wide_rows;
        }
      }
    }
    EXPECT_GE(plans, 9 * 20);
  }
  force_simd_target(0);
}

TEST(AttentionInt8, SoTheyDoUnderAnyMaskBiasCapAndDropout) {
  Index compared = 0, whole = 0;
  for (std::uint64_t seed = 0; compared < 3000; ++seed) {
    testing::Choices choices(seed);
    const AttentionSample p = testing::random_attention_sample(choices);
    if (p.q.dtype() != DType::f32 || p.page > 0) continue;
    const testing::Int8Verdict verdict = judge_int8(p);
    EXPECT_EQ(verdict.complaint, "") << "seed " << seed << ": " << describe(p);
    ++compared, whole += verdict.in_whole_numbers;
  }
  EXPECT_GE(whole, kernels::byte_units().empty() ? 0 : 300);
}

TEST(AttentionInt8, KeysAloneOrValuesAloneMayBeOfIt) {
  const AttentionSample p = plain_problem({.heads = 4, .key_heads = 2, .queries = 1, .keys = 100, .width = 32});
  const Int8Rows k(p.k), v(p.v);
  for (const AttentionPlan& plan : attention_plans()) {
    if (!plan.refusal(make_attention_problem("test", p.q, p.k, p.v, p.spec)).empty()) continue;
    AttentionSpec keys = p.spec, values = p.spec;
    keys.scales.k = k.scales, values.scales.v = v.scales;
    EXPECT_TRUE(same_bits(forward_answer(plan, p.q, k.values, p.v, keys, false).out,
                          forward_answer(plan, p.q, k.wide, p.v, p.spec, false).out));
    EXPECT_TRUE(same_bits(forward_answer(plan, p.q, p.k, v.values, values, false).out,
                          forward_answer(plan, p.q, p.k, v.wide, p.spec, false).out));
  }
}

TEST(AttentionInt8, QueriesOf16BitsReadItToo) {
  AttentionSample p = plain_problem({.heads = 4, .key_heads = 2, .queries = 2, .keys = 70, .width = 16}, DType::bf16);
  const Int8Rows k(p.k), v(p.v);
  AttentionSpec narrow = p.spec;
  narrow.scales = {.k = k.scales, .v = v.scales};
  Workspace workspace;
  const Tensor out = Tensor::empty_like(p.dout), wide = Tensor::empty(DType::f32, {1, 4, 2, p.v.dim(3)});
  attention(p.q, k.values, v.values, narrow, {.out = out}, workspace);
  attention(p.q.to(DType::f32), k.values, v.values, narrow, {.out = wide}, workspace);
  EXPECT_TRUE(same_bits(out, wide.to(DType::bf16)));
}

TEST(AttentionInt8, ScalesMayLieAsTheyLike) {
  const AttentionSample p = plain_problem({.batch = 2, .heads = 2, .key_heads = 2, .queries = 1, .keys = 90});
  const Int8Rows k(p.k), v(p.v);
  const Tensor by_key = Tensor::empty(DType::f32, {90, 2, 2});
  copy(k.scales, transpose(by_key.view(), 0, 2));
  AttentionSpec line = p.spec, apart = p.spec;
  line.scales = {.k = k.scales, .v = v.scales};
  apart.scales = {.k = by_key.through(transpose(by_key.view(), 0, 2)), .v = v.scales};
  Workspace workspace;
  const Tensor one = Tensor::empty_like(p.dout), other = Tensor::empty_like(p.dout);
  attention(p.q, k.values, v.values, line, {.out = one}, workspace);
  attention(p.q, k.values, v.values, apart, {.out = other}, workspace);
  EXPECT_TRUE(same_bits(one, other));
}

TEST(AttentionInt8, PackedSequencesTakeTheirOwnScales) {
  const AttentionSample p = plain_problem({.heads = 4, .key_heads = 2, .queries = 7, .keys = 80});
  const Int8Rows k(p.k), v(p.v);
  AttentionSpec narrow = p.spec;
  narrow.sequences = {.query_offsets = Tensor::from(std::vector<std::int32_t>{0, 3, 7}, {3}),
                      .key_offsets = Tensor::from(std::vector<std::int32_t>{0, 70, 80}, {3})};
  narrow.scales = {.k = k.scales, .v = v.scales};
  Workspace workspace;
  const Tensor got = Tensor::empty_like(p.dout), expected = Tensor::empty_like(p.dout);
  attention(p.q, k.values, v.values, narrow, {.out = got}, workspace);
  for (const auto& [queries, keys] : {std::pair<Range, Range>{{0, 3}, {0, 70}}, {{3, 7}, {70, 80}}}) {
    const auto part = [](const Tensor& x, Range of) { return x.through(slice(x.view(), 2, of.begin, of.end)); };
    AttentionSpec one = p.spec;
    one.scales = {.k = part(k.scales, keys), .v = part(v.scales, keys)};
    attention(part(p.q, queries), part(k.values, keys), part(v.values, keys), one, {.out = part(expected, queries)},
              workspace);
  }
  EXPECT_TRUE(same_bits(got, expected));
  narrow.scales.k = k.scales.through(slice(k.scales.view(), 2, 0, 79));
  EXPECT_EQ(refusal([&] { attention(p.q, k.values, v.values, narrow, {.out = got}, workspace); }),
            "attention: the scales of k of packed sequences must be [1, H | 1, 80], but is f32 [1, 2, 79] with strides "
            "[160, 80, 1]");
}

// A cache of i8 gives the bits of one of f32 that holds what its rows stand for, however the pages cut the blocks.
TEST(AttentionInt8, APagedCacheOfItGivesTheBitsOfTheRowsThatItStandsFor) {
  for (Index page : {1, 5, 16, 64, 100}) {
    PagedCacheOptions options{.key_heads = 2, .width = 24, .value_width = 9, .page = page, .dtype = DType::i8};
    PagedCache narrow(options, 2);
    options.dtype = DType::f32;
    PagedCache wide(options, 2);
    for (Index length : {70, 1, 63}) {
      const Int8Rows k(random_tensor(DType::f32, {2, 2, length, 24}, static_cast<std::uint64_t>(length)));
      const Int8Rows v(random_tensor(DType::f32, {2, 2, length, 9}, static_cast<std::uint64_t>(length + 1)));
      narrow.append(k.wide, v.wide), wide.append(k.wide, v.wide);
      if (length == 1) {  // both go on from one; the page that they share is copied
        for (PagedCache* cache : {&narrow, &wide}) cache->reorder(std::vector<Index>{1, 1});
      }
      // What stands for a row of i8 has the same largest number, and so the same scale and numbers.
      const Tensor q = random_tensor(DType::f32, {2, 4, 1, 24}, 9);
      const AttentionSpec narrow_spec = narrow.spec(Mask::causal(Anchor::length));
      const AttentionSpec wide_spec = wide.spec(Mask::causal(Anchor::length));
      for (const AttentionPlan& plan : attention_plans()) {
        if (plan.order == SumOrder::whole) continue;  // below
        if (!plan.refusal(make_attention_problem("test", q, narrow.keys(), narrow.values(), narrow_spec)).empty()) {
          continue;
        }
        SCOPED_TRACE(std::string(plan.name) + ", pages of " + std::to_string(page));
        EXPECT_TRUE(same_bits(forward_answer(plan, q, narrow.keys(), narrow.values(), narrow_spec, false).out,
                              forward_answer(plan, q, wide.keys(), wide.values(), wide_spec, false).out));
      }
    }
  }
}

// Whichever plan computes them: each query alone, with its own head alone, out of pages and by any number of threads.
TEST(AttentionInt8, ARowHasItsBitsInAnyCompany) {
  constexpr Index kHeads = 10, kKeyHeads = 2, kQueries = 5, kKeys = 150;
  const int threads = thread_count();
  for (std::int64_t target : simd_targets()) {
    SCOPED_TRACE(simd_target_name(target));
    force_simd_target(target);
    for (Index width : {24, 64, 160, 320}) {
      const AttentionSample p =
          plain_problem({.heads = kHeads, .key_heads = kKeyHeads, .queries = kQueries, .keys = kKeys, .width = width});
      const Int8Rows k(p.k), v(p.v);
      AttentionSpec spec = p.spec;
      spec.scales = {.k = k.scales, .v = v.scales};
      Workspace workspace;
      const Tensor all = Tensor::empty_like(p.dout), again = Tensor::empty_like(p.dout);
      attention(p.q, k.values, v.values, spec, {.out = all}, workspace);
      for (int count : {1, 2, 3}) {
        set_thread_count(count);
        attention(p.q, k.values, v.values, spec, {.out = again}, workspace);
        EXPECT_TRUE(same_bits(again, all)) << count << " threads";
      }
      set_thread_count(threads);

      const auto part = [](const Tensor& x, Index axis, Range of) {
        return x.through(slice(x.view(), static_cast<int>(axis), of.begin, of.end));
      };
      for (Index h = 0; h < kHeads; ++h)
        for (Index i = 0; i < kQueries; ++i) {
          const Range head{h, h + 1}, of_keys{h / (kHeads / kKeyHeads), h / (kHeads / kKeyHeads) + 1}, row{i, i + 1};
          AttentionSpec alone = p.spec;
          alone.scales = {.k = part(k.scales, 1, of_keys), .v = part(v.scales, 1, of_keys)};
          attention(part(part(p.q, 1, head), 2, row), part(k.values, 1, of_keys), part(v.values, 1, of_keys), alone,
                    {.out = part(part(again, 1, head), 2, row)}, workspace);
        }
      EXPECT_TRUE(same_bits(again, all)) << "alone";

      for (Index page : {1, 16, 64, 100}) {
        PagedCache cache(
            {.key_heads = kKeyHeads, .width = width, .value_width = p.v.dim(3), .page = page, .dtype = DType::i8}, 1);
        cache.append(p.k, p.v);
        attention(p.q, cache.keys(), cache.values(), cache.spec({}), {.out = again}, workspace);
        EXPECT_TRUE(same_bits(again, all)) << "pages of " << page;
      }
    }
  }
  force_simd_target(0);
}

TEST(AttentionInt8, AScaleThatIsNaNCountsWhereTheMaskAllowsItsKey) {
  const AttentionSample p = plain_problem({.heads = 2, .key_heads = 1, .queries = 2, .keys = 70});
  Int8Rows k(p.k), v(p.v);
  k.scales.at<float>({0, 0, 69}) = v.scales.at<float>({0, 0, 69}) = std::nanf("");
  AttentionSpec spec = p.spec;
  spec.scales = {.k = k.scales, .v = v.scales};
  spec.mask = Mask::causal();  // the first query does not see the last key
  Workspace workspace;
  const Tensor out = Tensor::empty_like(p.dout);
  attention(p.q, k.values, v.values, spec, {.out = out}, workspace);
  for (Index h = 0; h < 2; ++h) {
    EXPECT_TRUE(std::isfinite(out.at<float>({0, h, 0, 0})));
    EXPECT_TRUE(std::isnan(out.at<float>({0, h, 1, 0})));
  }
}

TEST(AttentionInt8, ScalesAreGivenWithItAndItHasNoGradient) {
  const AttentionSample p = plain_problem({.batch = 2, .heads = 4, .key_heads = 2, .queries = 3, .keys = 5});
  const Int8Rows k(p.k), v(p.v);
  const Tensor out = Tensor::zeros_like(p.dout), stat = Tensor::zeros(DType::f32, {2, 4, 3});
  Workspace workspace;
  const auto failing = [&](const Tensor& q, const Tensor& keys, const Tensor& values, const RowScales& scales) {
    AttentionSpec spec = p.spec;
    spec.scales = scales;
    return refusal([&] { attention(q, keys, values, spec, {.out = out}, workspace); });
  };
  EXPECT_EQ(failing(p.q, k.values, v.values, {k.scales, v.scales}), "no error");
  EXPECT_EQ(failing(p.q, k.values, v.values, {{}, v.scales}),
            "attention: k is i8 [2, 2, 5, 8], whose scales must be f32 [2, 2, 5], but are an empty view");
  EXPECT_EQ(failing(p.q, k.values, v.values, {k.scales, v.scales.reshape({2, 5, 2})}),
            "attention: v is i8 [2, 2, 5, 8], whose scales must be f32 [2, 2, 5], but are f32 [2, 5, 2]");
  EXPECT_EQ(failing(p.q, k.values, v.values, {k.scales.to(DType::f64), v.scales}),
            "attention: k is i8 [2, 2, 5, 8], whose scales must be f32 [2, 2, 5], but are f64 [2, 2, 5]");
  EXPECT_EQ(failing(p.q, k.values, p.v, {k.scales, v.scales}),
            "attention: v has scales, f32 [2, 2, 5], which only i8 has, but is f32 [2, 2, 5, 8]");
  EXPECT_EQ(failing(p.q.to(DType::f64), k.values, v.values, {k.scales, v.scales}),
            "attention: k must be f64 as q is, but is i8 [2, 2, 5, 8]");
  AttentionSpec spec = p.spec;
  spec.scales = {.k = k.scales, .v = v.scales};
  const AttentionSaved saved{.out = out.view(), .row_stat = stat.view(), .dout = p.dout.view()};
  const Tensor dq = Tensor::empty_like(p.q);
  EXPECT_EQ(refusal([&] { attention_backward(p.q, k.values, v.values, spec, saved, {.dq = dq}, workspace); }),
            "attention_backward: i8 has no gradient: it is for caches, but k is i8 [2, 2, 5, 8] and v i8 [2, 2, 5, 8]");
  EXPECT_EQ(refusal([&] { attention_double_backward(p.q, k.values, v.values, spec, saved, {}, {}); }),
            "attention_double_backward: i8 has no derivatives, but k is i8 [2, 2, 5, 8] and v i8 [2, 2, 5, 8]");
}

}  // namespace
}  // namespace heed
