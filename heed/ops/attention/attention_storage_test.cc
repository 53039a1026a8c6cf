// Wherever and in whatever type the numbers lie, the answer is the same: pages, packed sequences, caches of 16 bits,
// and weights that are computed again.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_answer.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::attention_kinds;
using testing::AttentionAnswer;
using testing::AttentionSample;
using testing::Choices;
using testing::largest_difference;
using testing::plain_problem;
using testing::plans_for;
using testing::random_tensor;
using testing::same_bits;
using testing::solve;

TEST(AttentionStorage, APagedCacheGivesTheBitsOfOneThatLiesInLine) {
  Index compared = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Choices choices(seed);
    AttentionSample p = testing::random_attention_sample(choices);
    if (p.page == 0) continue;
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer paged = solve(*plan, p);
      AttentionSample in_line = p;
      in_line.page = 0;
      const AttentionAnswer other = solve(*plan, in_line);
      for (auto part :
           {&AttentionAnswer::out, &AttentionAnswer::row_stat, &AttentionAnswer::weights, &AttentionAnswer::scores}) {
        EXPECT_TRUE(same_bits(paged.*part, other.*part)) << plan->name << ", seed " << seed << ": " << describe(p);
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 50);
}

// f32 beside k and v of 16 bits: the numbers as f32, and only the gradients of k and v rounded.
TEST(AttentionStorage, ACacheOf16BitsGivesTheBitsOfTheSameNumbersInF32) {
  for (DType type : {DType::bf16, DType::f16}) {
    for (AttentionSample wide : attention_kinds({.batch = 2, .heads = 4, .key_heads = 2, .queries = 9, .keys = 70})) {
      AttentionSample narrow = wide;
      narrow.k = wide.k.to(type), narrow.v = wide.v.to(type);
      wide.k = narrow.k.to(DType::f32), wide.v = narrow.v.to(DType::f32);
      for (const AttentionPlan* plan : plans_for(narrow)) {
        SCOPED_TRACE(std::string(plan->name) + ": " + describe(narrow));
        const AttentionAnswer a = solve(*plan, narrow), b = solve(*plan, wide);
        for (auto part :
             {&AttentionAnswer::out, &AttentionAnswer::row_stat, &AttentionAnswer::weights, &AttentionAnswer::dq}) {
          EXPECT_TRUE(same_bits(a.*part, b.*part));
        }
        EXPECT_TRUE(same_bits(a.dk, b.dk.to(type)));
        EXPECT_TRUE(same_bits(a.dv, b.dv.to(type)));
      }
    }
  }
}

// Sequences of different lengths laid one behind the other, and each in a call of its own.
struct PackedStorage {
  std::vector<std::int32_t> queries{0, 5, 5, 6, 15}, keys{0, 7, 9, 9, 30};
  Tensor query_offsets = Tensor::from(queries, {5}), key_offsets = Tensor::from(keys, {5});
  Tensor lengths = Tensor::from(std::vector<std::int64_t>{7, 1, 0, 16}, {4});

  AttentionSample problem(const AttentionSample& kind) const {
    AttentionSample p = kind;
    p.spec.mask = Mask::causal() & Mask::key_lengths(lengths);
    p.spec.sequences = {.query_offsets = query_offsets, .key_offsets = key_offsets};
    p.spec.dropout = {.probability = 0.2, .seed = 4, .stream = 1};
    return p;
  }
};

TEST(AttentionStorage, PackedSequencesGiveTheBitsOfEachByItself) {
  const PackedStorage packed;
  for (const AttentionSample& kind : attention_kinds({.heads = 4, .key_heads = 2, .queries = 15, .keys = 30})) {
    AttentionSample p = packed.problem(kind);
    p.centre = random_tensor(DType::f32, {1, 4, 15}, 3);
    if (p.spec.normaliser.kind == Normaliser::Kind::sum) p.centre = Tensor();
    p.spec.bias.gaussian.sigma = 9;
    p.bind();
    SCOPED_TRACE(describe(p));
    Workspace workspace;
    const Tensor out = Tensor::empty_like(p.dout), stat = Tensor::empty(DType::f32, {1, 4, 15});
    attention(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = stat}, workspace);
    const Tensor dq = Tensor::empty_like(p.q), dk = Tensor::empty_like(p.k), dv = Tensor::empty_like(p.v);
    const auto zeros = [](const Tensor& like) { return like.is_empty() ? Tensor() : Tensor::zeros_like(like); };
    const Tensor dvector = zeros(p.vector), dsinks = zeros(p.sinks), dcentre = zeros(p.centre);
    attention_backward(
        p.q, p.k, p.v, p.spec, {.out = out.view(), .row_stat = stat.view(), .dout = p.dout.view()},
        {.dq = dq, .dk = dk, .dv = dv, .dadditive_vector = dvector, .dsinks = dsinks, .dcentre = dcentre}, workspace);
    const Tensor vector_sum = zeros(p.vector), sinks_sum = zeros(p.sinks);
    for (Index n = 0; n < 4; ++n) {
      const auto at = static_cast<std::size_t>(n);
      const auto of = [&](const Tensor& rows, const std::vector<std::int32_t>& offsets) {
        return rows.is_empty() ? View() : slice(rows.view(), 2, offsets[at], offsets[at + 1]);
      };
      AttentionSpec spec = p.spec;
      spec.sequences = {};
      spec.mask.lengths = spec.mask.lengths.rows(n, n + 1);
      spec.bias.gaussian.centre = p.centre.through(of(p.centre, packed.queries));
      const View q = of(p.q, packed.queries), k = of(p.k, packed.keys), v = of(p.v, packed.keys);
      const AttentionProblem one = make_attention_problem("test", q, k, v, spec, n);
      const AttentionPlan& plan = choose_attention_plan(one);
      const Tensor own_out = Tensor::copy_of(of(out, packed.queries)),
                   own_stat = Tensor::copy_of(of(stat, packed.queries));
      plan.forward(one, {.out = own_out, .row_stat = own_stat}, workspace);
      EXPECT_TRUE(same_bits(own_out, of(out, packed.queries))) << n;
      EXPECT_TRUE(same_bits(own_stat, of(stat, packed.queries))) << n;
      const Tensor own_dq = Tensor::copy_of(q), own_dk = Tensor::copy_of(k), own_dv = Tensor::copy_of(v);
      const Tensor own_dcentre = p.centre.is_empty() ? Tensor() : Tensor::zeros_like(spec.bias.gaussian.centre);
      plan.backward(one, {.out = own_out.view(), .row_stat = own_stat.view(), .dout = of(p.dout, packed.queries)},
                    {.dq = own_dq,
                     .dk = own_dk,
                     .dv = own_dv,
                     .dadditive_vector = vector_sum,
                     .dsinks = sinks_sum,
                     .dcentre = own_dcentre},
                    workspace);
      EXPECT_TRUE(same_bits(own_dq, of(dq, packed.queries))) << n;
      EXPECT_TRUE(same_bits(own_dk, of(dk, packed.keys))) << n;
      EXPECT_TRUE(same_bits(own_dv, of(dv, packed.keys))) << n;
      if (!p.centre.is_empty()) {
        EXPECT_TRUE(same_bits(own_dcentre, of(dcentre, packed.queries))) << n;
      }
    }
    if (!p.vector.is_empty()) {
      EXPECT_TRUE(same_bits(dvector, vector_sum));
    }
    if (!p.sinks.is_empty()) {
      EXPECT_TRUE(same_bits(dsinks, sinks_sum));
    }
  }
}

// Any weight again from row_stat: all of them, and chosen heads and rows in the order in which they are asked for.
TEST(AttentionStorage, RowStatGivesAnyWeightsBack) {
  for (AttentionSample p : attention_kinds({.batch = 2, .heads = 4, .key_heads = 2, .queries = 6, .keys = 30})) {
    if (p.spec.normaliser.kind != Normaliser::Kind::sum) p.dense = random_tensor(DType::f32, {1, 4, 6, 30}, 8);
    p.spec.mask = Mask::sliding_window(9, 2, Anchor::start);
    p.spec.dropout = {.probability = 0.5, .seed = 1, .stream = 1};
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer a = solve(*plan, p);
      Workspace workspace;
      const Tensor weights = Tensor::empty_like(a.weights), some = Tensor::empty(DType::f32, {2, 2, 3, 30});
      attention_weights(p.q, p.k, p.spec, a.row_stat, weights, workspace);
      double largest_stat = 0;  // whose rounding is that of the weights
      for (Index i = 0; i < a.row_stat.size(); ++i) {
        const double stat = std::abs(a.row_stat.data<float>()[i]);
        if (std::isfinite(stat)) largest_stat = std::max(largest_stat, stat);
      }
      EXPECT_LE(largest_difference(weights, a.weights), 2e-6 + 0x1p-23 * largest_stat)
          << plan->name << ": " << describe(p);
      attention_weights(p.q, p.k, p.spec, a.row_stat, some, workspace, {.heads = {3, 1}, .rows = {5, 0, 5}});
      const Index heads[] = {3, 1}, rows[] = {5, 0, 5};
      for (Index h = 0; h < 2; ++h)
        for (Index r = 0; r < 3; ++r) {
          const View asked = select(select(some.view(), 1, h), 1, r);
          EXPECT_TRUE(same_bits(asked, select(select(weights.view(), 1, heads[h]), 1, rows[r]))) << plan->name;
        }
    }
  }
}

TEST(AttentionStorage, NumbersOf16BitsComeBackRounded) {
  const AttentionSample p = plain_problem({.heads = 2, .queries = 5, .keys = 9}, DType::bf16);
  AttentionSample wide = p;
  for (Tensor AttentionSample::*member : {&AttentionSample::q, &AttentionSample::k, &AttentionSample::v}) {
    wide.*member = (p.*member).to(DType::f32);
  }
  wide.dout = p.dout.to(DType::f32);
  for (const AttentionPlan* plan : plans_for(p)) {
    if (plan->order == SumOrder::bf16) continue;  // it rounds in between, too
    const AttentionAnswer narrow = solve(*plan, p), exact = solve(*plan, wide);
    EXPECT_TRUE(same_bits(narrow.out, exact.out.to(DType::bf16))) << plan->name;
    EXPECT_TRUE(same_bits(narrow.weights, exact.weights.to(DType::bf16))) << plan->name;
    EXPECT_TRUE(same_bits(narrow.scores, exact.scores.to(DType::bf16))) << plan->name;
    EXPECT_TRUE(same_bits(narrow.row_stat, exact.row_stat)) << plan->name;
  }
}

}  // namespace
}  // namespace heed
