// What may not change a bit of the result: the batch around a row, the padding behind it, the thread count, the
// strides.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>

#include "heed/base/parallel.h"
#include "heed/ops/attention/attention.h"
#include "heed/testing/attention_answer.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::attention_kinds;
using testing::AttentionAnswer;
using testing::AttentionSample;
using testing::AttentionShape;
using testing::kRowAnswers;
using testing::largest_difference;
using testing::plain_problem;
using testing::plans_for;
using testing::random_booleans;
using testing::random_tensor;
using testing::same_bits;
using testing::solve;

// The kinds, the storage types, and sparse masks that can be counted from the start.
std::vector<AttentionSample> variants(const AttentionShape& shape) {
  std::vector<AttentionSample> all = attention_kinds(shape);
  for (DType type : {DType::bf16, DType::f16}) all.push_back(plain_problem(shape, type));
  AttentionSample cached = plain_problem(shape);
  cached.k = cached.k.to(DType::bf16), cached.v = cached.v.to(DType::bf16);
  all.push_back(cached);
  for (const Mask& mask : {Mask::longformer({.radius = 3, .global = 2}), Mask::fixed({.block = 5, .summary = 1}),
                           Mask::bigbird({.block = 4, .window = 1, .global = 1, .random = 1, .positions = 64})}) {
    AttentionSample sparse = plain_problem(shape);
    sparse.spec.mask = mask;
    sparse.spec.mask.anchor = Anchor::start;
    all.push_back(sparse);
  }
  return all;
}

TEST(AttentionInvariance, AnElementOfABatchHasTheSameBitsAlone) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{20, 37, 1}, {3});
  const AttentionShape shape{.batch = 3, .heads = 4, .key_heads = 2, .queries = 9, .keys = 37, .width = 24};
  for (AttentionSample p : variants(shape)) {
    p.spec.mask = p.spec.mask & Mask::causal(Anchor::start) & Mask::key_lengths(lengths);
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer together = solve(*plan, p);
      for (Index b = 0; b < 3; ++b) {
        AttentionSample alone = p;
        for (Tensor AttentionSample::*member :
             {&AttentionSample::q, &AttentionSample::k, &AttentionSample::v, &AttentionSample::dout}) {
          alone.*member = (p.*member).rows(b, b + 1);
        }
        alone.spec.mask.lengths = p.spec.mask.lengths.rows(b, b + 1);
        const AttentionAnswer one = solve(*plan, alone);
        for (auto part : kRowAnswers) {
          EXPECT_TRUE(same_bits((together.*part).rows(b, b + 1), one.*part)) << plan->name << " " << b << describe(p);
        }
      }
    }
  }
}

// Whatever blocks of keys the rows around it see, under a mask of any booleans and under an interval for each row.
TEST(AttentionInvariance, ARowHasTheSameBitsAlone) {
  const Index queries = 7, keys = 600;
  const Tensor open = random_booleans({1, 1, queries, keys}, 3), centre = Tensor::empty(DType::f32, {1, 1, queries});
  for (Index i = 0; i < queries; ++i) {
    centre.at<float>({0, 0, i}) = static_cast<float>(i * 97);
    for (Index j = 0; j < keys; ++j) {
      if ((j / 64 + i) % 3 == 0 || j < i * 20) open.at<std::uint8_t>({0, 0, i, j}) = 0;
    }
  }
  const auto row_of = [](const Tensor& tensor, Index i) { return Tensor::copy_of(slice(tensor.view(), 2, i, i + 1)); };
  for (AttentionSample p : variants({.queries = queries, .keys = keys})) {
    // Scores near each other, so that many keys have weight and the order of their sums counts.
    for (Index i = 0; p.q.dtype() == DType::f32 && i < p.q.size(); ++i) p.q.data<float>()[i] /= 16;
    for (bool interval : {false, true}) {
      p.spec.mask = interval ? Mask::around(centre, 250) : Mask::boolean(open);
      for (const AttentionPlan* plan : plans_for(p)) {
        const AttentionAnswer together = solve(*plan, p);
        for (Index i = 0; i < queries; ++i) {
          AttentionSample alone = p;
          const Tensor own_open = row_of(open, i), own_centre = row_of(centre, i);
          alone.q = row_of(p.q, i), alone.dout = row_of(p.dout, i);
          alone.spec.mask = interval ? Mask::around(own_centre, 250) : Mask::boolean(own_open);
          const AttentionAnswer one = solve(*plan, alone);
          for (auto part :
               {&AttentionAnswer::out, &AttentionAnswer::row_stat, &AttentionAnswer::recovered, &AttentionAnswer::dq}) {
            EXPECT_TRUE(same_bits(row_of(together.*part, i), one.*part))
                << plan->name << " " << i << " " << interval << describe(p);
          }
        }
      }
    }
  }
}

// Of more keys than "decode" reads before their values: all of them, those of a window that begins within a block, and
// those of a document, whose other blocks are left out.
TEST(AttentionInvariance, FewRowsHaveTheBitsOfTheirOrderHoweverManyKeysThereAre) {
  const Tensor of_query = Tensor::from(std::vector<std::int32_t>{3}, {1, 1}),
               of_keys = Tensor::empty(DType::i32, {1, 4500});
  for (Index j = 0; j < 4500; ++j) of_keys.data<std::int32_t>()[j] = static_cast<std::int32_t>(j / 700 % 5);
  for (DType type : {DType::f32, DType::bf16}) {
    for (Index heads : {1, 8}) {
      AttentionSample p = plain_problem({.heads = heads, .keys = 4500, .width = 128, .value_width = 128}, type);
      for (const Mask& mask : {Mask(), Mask::sliding_window(3000, 0), Mask::segments(of_query, of_keys)}) {
        p.spec.mask = mask;
        std::map<SumOrder, AttentionAnswer> of_order;
        std::set<std::string_view> compared;
        for (const AttentionPlan* plan : plans_for(p)) {
          const AttentionAnswer answer = solve(*plan, p);
          const auto [first, is_first] = of_order.try_emplace(plan->order, answer);
          if (is_first) continue;
          compared.insert(plan->name);
          EXPECT_TRUE(same_bits(first->second.out, answer.out)) << plan->name << describe(p);
          EXPECT_TRUE(same_bits(first->second.row_stat, answer.row_stat)) << plan->name << describe(p);
        }
        EXPECT_TRUE(compared.contains("decode"));
      }
    }
  }
}

// [B, H, L, D] with more rows behind, full of other numbers.
Tensor padded_rows(const Tensor& tensor, Index rows, std::uint64_t seed) {
  const Tensor longer = random_tensor(tensor.dtype(), {tensor.dim(0), tensor.dim(1), rows, tensor.dim(3)}, seed);
  copy(tensor, slice(longer.view(), 2, 0, tensor.dim(2)));
  return longer;
}

AttentionSample padded(const AttentionSample& p, Index queries, Index keys) {
  AttentionSample longer = p;
  longer.q = padded_rows(p.q, queries, 21), longer.dout = padded_rows(p.dout, queries, 22);
  longer.k = padded_rows(p.k, keys, 23), longer.v = padded_rows(p.v, keys, 24);
  fill(slice(longer.dout.view(), 2, p.q.dim(2), queries), 0);  // a padded position has no loss
  return longer;
}

TEST(AttentionInvariance, KeysBehindTheMaskAndRowsBehindTheLastChangeNoBit) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{14, 10}, {2});
  for (AttentionSample p :
       variants({.batch = 2, .heads = 2, .queries = 11, .keys = 14, .width = 16, .value_width = 16})) {
    p.spec.dropout = {.probability = 0.2, .seed = 5, .stream = 6};
    p.spec.mask = p.spec.mask & Mask::sliding_window(11, 4, Anchor::start) & Mask::key_lengths(lengths);
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer before = solve(*plan, p);
      for (Index keys : {15, 16, 17, 33, 600}) {
        for (Index queries : {11, 12, 70}) {
          SCOPED_TRACE(std::string(plan->name) + ": " + describe(p) + " to " + std::to_string(queries) + " x " +
                       std::to_string(keys));
          const AttentionAnswer after = solve(*plan, padded(p, queries, keys));
          EXPECT_TRUE(same_bits(slice(after.out.view(), 2, 0, 11), before.out));
          EXPECT_TRUE(same_bits(slice(after.dq.view(), 2, 0, 11), before.dq));
          EXPECT_TRUE(same_bits(slice(after.row_stat.view(), 2, 0, 11), before.row_stat));
          EXPECT_TRUE(same_bits(slice(slice(after.recovered.view(), 2, 0, 11), 3, 0, 14), before.recovered));
          EXPECT_EQ(largest_difference(slice(after.dk.view(), 2, 0, 14), before.dk), 0);
          EXPECT_EQ(largest_difference(slice(after.dv.view(), 2, 0, 14), before.dv), 0);
        }
      }
    }
  }
}

// Of 16 bits, what a row's scores were looked at for is held for the gradients up to 4,096 keys, and computed again
// beyond: here of the same keys, of which the second time most are padding.
TEST(AttentionInvariance, WhatIsHeldForGradientsHasTheBitsOfWhatIsComputedAgain) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    AttentionSample p = plain_problem({.heads = 2, .key_heads = 1, .queries = 300, .keys = 200}, dtype);
    p.spec.mask = Mask::causal(Anchor::start) & Mask::key_lengths(Tensor::from(std::vector<std::int64_t>{190}, {1}));
    for (const AttentionPlan* plan : plans_for(p)) {
      if (!plan->name.starts_with("fused")) continue;
      const AttentionAnswer held = solve(*plan, p), again = solve(*plan, padded(p, 300, 4200));
      EXPECT_TRUE(same_bits(again.dq, held.dq)) << plan->name;
      EXPECT_EQ(largest_difference(slice(again.dk.view(), 2, 0, 200), held.dk), 0) << plan->name;
      EXPECT_EQ(largest_difference(slice(again.dv.view(), 2, 0, 200), held.dv), 0) << plan->name;
    }
  }
}

// Holds an answer on several threads to that on one.
void expect_same_on_any_threads(const AttentionPlan& plan, const AttentionSample& p) {
  const int before = thread_count();
  set_thread_count(1);
  const AttentionAnswer one = solve(plan, p);
  for (int count : {2, 3, 7}) {
    set_thread_count(count);
    const AttentionAnswer many = solve(plan, p);
    for (const auto& part : testing::kAttentionAnswerParts) {
      if ((one.*part.tensor).is_empty()) continue;
      EXPECT_TRUE(same_bits(one.*part.tensor, many.*part.tensor))
          << plan.name << " " << part.name << " " << count << describe(p);
    }
  }
  set_thread_count(before);
}

TEST(AttentionInvariance, TheThreadCountChangesNoBit) {
  for (AttentionSample p :
       variants({.batch = 3, .heads = 4, .key_heads = 2, .queries = 70, .keys = 90, .width = 16, .value_width = 16})) {
    if (p.spec.normaliser.kind != Normaliser::Kind::sum) {
      p.dense = random_tensor(DType::f32, {1, 4, 1, 90}, 4);  // its gradient is a sum over the batch and the rows
    }
    p.spec.dropout = {.probability = 0.1, .seed = 5, .stream = 6};
    p.bind();
    for (const AttentionPlan* plan : plans_for(p)) expect_same_on_any_threads(*plan, p);
  }
}

// With fewer heads than threads, the gradients of a long head's queries and keys are shared out over them.
TEST(AttentionInvariance, TheThreadCountChangesNoBitOfFewLongHeads) {
  std::vector<AttentionSample> problems(3, plain_problem({.heads = 2, .queries = 600, .keys = 1100}));
  problems[0].spec.mask = Mask::causal() & Mask::key_lengths(Tensor::from(std::vector<std::int64_t>{1090}, {1}));
  problems[0].k.at<float>({0, 0, 1095, 3}) = std::numeric_limits<float>::quiet_NaN();  // behind the mask
  problems[0].spec.dropout = {.probability = 0.1, .seed = 5, .stream = 6};
  problems[1].spec.score = Score::cosine(8);
  problems[2].spec.bias.alibi = random_tensor(DType::f32, {2}, 7), problems[2].spec.normaliser = Normaliser::sigmoid();
  problems.push_back(plain_problem({.heads = 2, .queries = 600, .keys = 1100}, DType::bf16));
  problems[3].spec.mask = Mask::causal();
  for (const DType dtype : {DType::f32, DType::bf16})  // rows that see none of most pieces of the keys
    for (const Mask& mask : {Mask::sliding_window(20, 9), Mask::bigbird({.positions = 1100})}) {
      problems.push_back(plain_problem({.heads = 2, .queries = 600, .keys = 1100}, dtype));
      problems.back().spec.mask = mask;
    }
  for (const AttentionSample& p : problems) {
    int fused = 0;
    for (const AttentionPlan* plan : plans_for(p)) {
      if (!plan->name.starts_with("fused")) continue;
      ++fused;
      expect_same_on_any_threads(*plan, p);
    }
    EXPECT_GE(fused, 1) << describe(p);
  }
}

// Also where the threads share out what is wanted alone.
TEST(AttentionInvariance, AGradientAloneHasTheBitsThatItHasBesideTheOthers) {
  const int before = thread_count();
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Index length : {100, 1100}) {
      AttentionSample p = plain_problem({.heads = 2, .queries = 600, .keys = length}, dtype);
      p.spec.mask = Mask::causal(Anchor::start);
      const Tensor out = Tensor::empty_like(p.dout), stat = Tensor::empty(DType::f32, {1, 2, 600});
      const Tensor dq = Tensor::empty_like(p.q), dk = Tensor::empty_like(p.k), dv = Tensor::empty_like(p.v);
      Workspace workspace;
      attention(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = stat}, workspace);
      const AttentionSaved saved{out, stat, p.dout};
      set_thread_count(1);
      attention_backward(p.q, p.k, p.v, p.spec, saved, {.dq = dq, .dk = dk, .dv = dv}, workspace);
      for (int count : {1, 3}) {
        set_thread_count(count);
        const Tensor q = Tensor::empty_like(dq), k = Tensor::empty_like(dk), v = Tensor::empty_like(dv);
        attention_backward(p.q, p.k, p.v, p.spec, saved, {.dq = q}, workspace);
        attention_backward(p.q, p.k, p.v, p.spec, saved, {.dk = k}, workspace);
        attention_backward(p.q, p.k, p.v, p.spec, saved, {.dv = v}, workspace);
        EXPECT_TRUE(same_bits(q, dq) && same_bits(k, dk) && same_bits(v, dv)) << describe(p) << " " << count;
      }
    }
  set_thread_count(before);
}

// Every score and normaliser in tiles, which follow each other through the keys, under an interval for each
// row and under booleans.
TEST(AttentionInvariance, TheThreadCountChangesNoBitOfOneHeadInTiles) {
  const Index queries = 150, keys = 1100;
  const Mask masks[] = {Mask::causal() & Mask::key_lengths(Tensor::from(std::vector<std::int64_t>{1090}, {1})),
                        Mask::sliding_window(700, 9), Mask::boolean(random_booleans({1, 1, queries, keys}, 3))};
  for (AttentionSample p : attention_kinds({.heads = 3, .queries = queries, .keys = keys})) {
    if (p.spec.score.kind == Score::Kind::feature_map) continue;
    for (const Mask& mask : masks) {
      p.spec.mask = mask;
      for (const AttentionPlan* plan : plans_for(p)) {
        if (plan->name == "tiled") expect_same_on_any_threads(*plan, p);
      }
    }
  }
}

TEST(AttentionInvariance, TheLayoutInMemoryChangesNoBit) {
  using testing::RowLayout;
  for (AttentionSample p : variants({.batch = 2, .heads = 4, .key_heads = 2, .queries = 11, .keys = 11})) {
    for (const AttentionPlan* plan : plans_for(p)) {
      p.layout = RowLayout::heads_first;
      const AttentionAnswer apart = solve(*plan, p);
      for (RowLayout layout : {RowLayout::length_first, RowLayout::spaced, RowLayout::packed}) {
        p.layout = layout;
        const AttentionAnswer other = solve(*plan, p);
        for (auto part : kRowAnswers) EXPECT_TRUE(same_bits(apart.*part, other.*part)) << plan->name << describe(p);
      }
    }
  }
}

TEST(AttentionInvariance, HeadsReadTheirKeyValueHead) {
  for (const AttentionSample& p : variants({.batch = 2, .heads = 6, .key_heads = 2, .queries = 5, .keys = 17})) {
    AttentionSample repeated = p;
    repeated.k = Tensor::empty(p.k.dtype(), {2, 6, 17, 8}), repeated.v = Tensor::empty(p.v.dtype(), {2, 6, 17, 8});
    for (Index h = 0; h < 6; ++h) {
      copy(select(p.k, 1, h / 3), select(repeated.k, 1, h));
      copy(select(p.v, 1, h / 3), select(repeated.v, 1, h));
    }
    for (const AttentionPlan* plan : plans_for(p)) {
      const AttentionAnswer grouped = solve(*plan, p), each = solve(*plan, repeated);
      EXPECT_TRUE(same_bits(grouped.out, each.out)) << plan->name << ": " << describe(p);
      EXPECT_TRUE(same_bits(grouped.dq, each.dq)) << plan->name << ": " << describe(p);
      if (p.k.dtype() != DType::f32) continue;  // each head's gradient is rounded before this test adds them
      for (auto [one, many] : {std::pair{grouped.dk, each.dk}, std::pair{grouped.dv, each.dv}}) {
        const Tensor summed = Tensor::zeros_like(one);
        for (Index h = 0; h < 6; ++h)
          for (Index b = 0; b < 2; ++b)
            for (Index j = 0; j < 17; ++j)
              for (Index d = 0; d < 8; ++d) summed.at<float>({b, h / 3, j, d}) += many.at<float>({b, h, j, d});
        EXPECT_LE(largest_difference(one, summed), 4e-6) << plan->name << ": " << describe(p);
      }
    }
  }
}

// Rows of it are met by one head after another where there is one for all, else by one head at a time.
TEST(AttentionInvariance, ABiasOfAllHeadsIsThatOfEach) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    AttentionSample p = plain_problem({.batch = 2, .heads = 6, .key_heads = 3, .queries = 700, .keys = 130}, dtype);
    p.spec.mask = Mask::causal();
    p.spec.bias.dense = random_tensor(DType::f32, {1, 1, 700, 130}, 4);
    AttentionSample each = p;
    each.spec.bias.dense = Tensor::empty(DType::f32, {1, 6, 700, 130});
    for (Index h = 0; h < 6; ++h) copy(select(p.spec.bias.dense, 1, 0), select(each.spec.bias.dense, 1, h));
    for (const AttentionPlan* plan : plans_for(p)) {
      if (!plan->name.starts_with("fused")) continue;
      const AttentionAnswer of_all = solve(*plan, p), of_each = solve(*plan, each);
      EXPECT_TRUE(same_bits(of_all.out, of_each.out)) << plan->name;
      EXPECT_TRUE(same_bits(of_all.dq, of_each.dq)) << plan->name;
      expect_same_on_any_threads(*plan, p);
    }
  }
}

TEST(AttentionWanted, OnlyWhatIsWantedIsComputed) {
  for (const AttentionSample& p : variants({.heads = 2, .key_heads = 2, .queries = 5, .keys = 9})) {
    for (const AttentionPlan* plan : plans_for(p)) {
      SCOPED_TRACE(std::string(plan->name) + ": " + describe(p));
      const AttentionAnswer all = solve(*plan, p);
      const AttentionProblem c = make_attention_problem("test", p.q, p.k, p.v, p.spec);
      Workspace workspace;
      const Tensor weights = Tensor::zeros_like(all.weights), scores = Tensor::zeros_like(all.scores),
                   stat = Tensor::zeros_like(all.row_stat);
      plan->forward(c, {.weights = weights}, workspace);
      EXPECT_TRUE(same_bits(weights, all.weights));
      plan->forward(c, {.row_stat = stat, .scores = scores}, workspace);
      EXPECT_TRUE(same_bits(scores, all.scores));
      EXPECT_TRUE(same_bits(stat, all.row_stat));
      const AttentionSaved saved{.out = all.out.view(), .row_stat = all.row_stat.view(), .dout = p.dout.view()};
      const Tensor dq = Tensor::zeros_like(p.q), dk = Tensor::zeros_like(p.k), dv = Tensor::zeros_like(p.v);
      plan->backward(c, saved, {.dv = dv}, workspace);
      EXPECT_TRUE(same_bits(dv, all.dv));
      plan->backward(c, saved, {.dq = dq}, workspace);
      EXPECT_TRUE(same_bits(dq, all.dq));
      plan->backward(c, saved, {.dk = dk}, workspace);
      EXPECT_TRUE(same_bits(dk, all.dk));
      plan->backward(c, saved, {}, workspace);
    }
  }
}

TEST(AttentionWanted, ParametersAccumulateAndActivationsAreOverwritten) {
  for (AttentionSample p : attention_kinds({.batch = 2, .heads = 2, .key_heads = 2, .queries = 5, .keys = 9})) {
    if (p.spec.normaliser.kind != Normaliser::Kind::sum) {
      p.dense = random_tensor(DType::f32, {1, 2, 5, 9}, 4);
      p.relative = random_tensor(DType::f32, {8, 2}, 5);
      p.centre = random_tensor(DType::f32, {1, 2, 5}, 6);
      p.spec.bias.gaussian.sigma = 3;
      p.bind();
    }
    for (const AttentionPlan* plan : plans_for(p)) {
      AttentionAnswer once = solve(*plan, p), twice = once;
      const auto again = [](const Tensor& tensor) { return tensor.is_empty() ? Tensor() : tensor.clone(); };
      for (const auto& part : testing::kAttentionAnswerParts) twice.*part.tensor = again(once.*part.tensor);
      Workspace workspace;
      plan->backward(make_attention_problem("test", p.q, p.k, p.v, p.spec),
                     {.out = once.out.view(), .row_stat = once.row_stat.view(), .dout = p.dout.view()},
                     {.dq = twice.dq,
                      .dk = twice.dk,
                      .dv = twice.dv,
                      .dbias = twice.dbias,
                      .dadditive_vector = twice.dvector,
                      .dsinks = twice.dsinks,
                      .drelative = twice.drelative,
                      .dcentre = twice.dcentre},
                     workspace);
      for (auto part : kRowAnswers) EXPECT_TRUE(same_bits(twice.*part, once.*part)) << plan->name;
      for (auto part : {&AttentionAnswer::dbias, &AttentionAnswer::dvector, &AttentionAnswer::dsinks,
                        &AttentionAnswer::drelative, &AttentionAnswer::dcentre}) {
        if ((once.*part).is_empty()) continue;
        for (Index i = 0; i < (once.*part).size(); ++i) {
          EXPECT_NEAR((twice.*part).data<float>()[i], 2 * (once.*part).data<float>()[i], 1e-4) << plan->name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed
