// The plan "linear": as good as plain loops at the edges of its chunks, linear in memory, and what the documentation
// says of masks, dead rows, NaN and bits.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/plans/linear_chunk.h"
#include "heed/testing/attention_answer.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::AttentionAnswer;
using testing::AttentionSample;
using testing::AttentionYardstick;
using testing::random_tensor;
using testing::same_bits;
using testing::solve;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr FeatureMap::Kind kMaps[] = {FeatureMap::Kind::elu_plus_one, FeatureMap::Kind::relu,
                                      FeatureMap::Kind::positive_random};
constexpr Tensor AttentionAnswer::*kRowAnswers[] = {&AttentionAnswer::out, &AttentionAnswer::row_stat,
                                                    &AttentionAnswer::dq, &AttentionAnswer::dk, &AttentionAnswer::dv};

struct Shape {
  Index batch, heads, key_heads, queries, keys, width = 8, value_width = 6;
};

AttentionSample make_problem(const Shape& s, FeatureMap::Kind map, const Mask& mask, std::uint64_t seed = 1) {
  AttentionSample p;
  p.q = random_tensor(DType::f32, {s.batch, s.heads, s.queries, s.width}, seed * 8 + 1);
  p.k = random_tensor(DType::f32, {s.batch, s.key_heads, s.keys, s.width}, seed * 8 + 2);
  p.v = random_tensor(DType::f32, {s.batch, s.key_heads, s.keys, s.value_width}, seed * 8 + 3);
  p.dout = random_tensor(DType::f32, {s.batch, s.heads, s.queries, s.value_width}, seed * 8 + 4);
  p.drow_stat = random_tensor(DType::f32, {s.batch, s.heads, s.queries}, seed * 8 + 5, 0.1);
  if (map == FeatureMap::Kind::positive_random) {
    p.projection = Tensor::empty(DType::f32, {11, s.width});
    orthogonal_random_features(p.projection, seed);
  }
  p.spec.score = Score::features({.kind = map});
  p.spec.normaliser = Normaliser::sum();
  p.spec.mask = mask;
  p.bind();
  return p;
}

Tensor lengths_of(const std::vector<std::int64_t>& lengths) { return Tensor::from(lengths, {std::ssize(lengths)}); }

AttentionProblem case_of(const AttentionSample& p) { return make_attention_problem("test", p.q, p.k, p.v, p.spec); }

AttentionAnswer solve_linear(const AttentionSample& p) {
  EXPECT_EQ(kLinearPlan.refusal(case_of(p)), "");
  return solve(kLinearPlan, p);
}

void expect_as_good_as_plain(const AttentionSample& p, const std::string& what) {
  EXPECT_EQ(AttentionYardstick(p).complaint(solve_linear(p)), "") << what;
}

constexpr Shape kShapes[] = {{1, 1, 1, 1, 1},     {1, 2, 1, 63, 63}, {1, 1, 1, 64, 64},  {2, 2, 2, 65, 65},
                             {1, 1, 1, 128, 129}, {1, 1, 1, 1, 130}, {1, 2, 1, 200, 70}, {1, 3, 3, 70, 200},
                             {1, 1, 1, 192, 192}, {2, 1, 1, 5, 0},   {1, 2, 2, 0, 70},   {1, 1, 1, 130, 64}};

// Every anchor, and lengths that end in and at the edge of a chunk.
std::vector<Mask> masks_for(const Shape& s, const Tensor& lengths) {
  std::vector<Mask> masks{{}, Mask::causal(), Mask::causal(Anchor::start), Mask::sliding_window({}, 3)};
  for (Index b = 0; b < s.batch; ++b) {
    lengths.at<std::int64_t>({b}) = b == 0 ? std::min<Index>(s.keys, 64) : s.keys / 2;
  }
  for (Mask mask : std::vector<Mask>(masks)) masks.push_back(mask & Mask::key_lengths(lengths));
  masks.push_back(Mask::causal(Anchor::length) & Mask::key_lengths(lengths));
  return masks;
}

TEST(LinearPlan, IsAsGoodAsPlainLoopsAtTheEdgesOfItsChunks) {
  for (FeatureMap::Kind map : kMaps)
    for (const Shape& shape : kShapes) {
      const Tensor lengths = Tensor::zeros(DType::i64, {shape.batch});
      const std::vector<Mask> masks = masks_for(shape, lengths);
      for (std::size_t m = 0; m < masks.size(); ++m) {
        expect_as_good_as_plain(
            make_problem(shape, map, masks[m]),
            fmt::format("map {}, {} x {}, mask {}", static_cast<int>(map), shape.queries, shape.keys, m));
      }
    }
}

TEST(LinearPlan, IsAsGoodInEveryStorageType) {
  for (const DType q : {DType::f32, DType::bf16, DType::f16})
    for (const DType k : {DType::bf16, DType::f16}) {
      if (q != DType::f32 && q != k) continue;
      for (const Mask& mask : {Mask{}, Mask::causal()}) {
        for (float offset :
             {0.0f, 8.0f}) {  // away from zero dout . v and dout . out are large, and their difference small
          AttentionSample p = make_problem({1, 4, 2, 100, 140}, FeatureMap::Kind::elu_plus_one, mask);
          for (Index i = 0; i < p.v.size(); ++i) p.v.data<float>()[i] += offset;
          p.q = p.q.to(q), p.dout = p.dout.to(q), p.k = p.k.to(k), p.v = p.v.to(k);
          expect_as_good_as_plain(p, fmt::format("q {}, k {}, values around {}", name_of(q), name_of(k), offset));
        }
      }
    }
}

TEST(LinearPlan, IsAsGoodOnEverySimdTarget) {
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    const AttentionSample p =
        make_problem({1, 2, 1, 150, 150, 17, 19}, FeatureMap::Kind::positive_random, Mask::causal());
    expect_as_good_as_plain(p, std::string(simd_target_name(target)));
  }
  force_simd_target(0);
}

TEST(LinearPlan, TakesMoreFeaturesThanOneChainOfAProduct) {
  expect_as_good_as_plain(
      make_problem({1, 1, 1, 70, 130, kernels::kGemmTileDepth + 5, 3}, FeatureMap::Kind::elu_plus_one, Mask::causal()),
      "wide");
}

TEST(LinearPlan, RefusesWhatNoStateCanHold) {
  const AttentionSample p = make_problem({1, 1, 1, 3, 3}, FeatureMap::Kind::relu, {});
  const Tensor dense = Tensor::zeros(DType::f32, {1, 1, 3, 3});
  const auto reason = [&](const std::function<void(AttentionSpec&)>& change) {
    AttentionSample other = p;
    change(other.spec);
    return kLinearPlan.refusal(case_of(other));
  };
  EXPECT_EQ(reason([](AttentionSpec&) {}), "");
  EXPECT_EQ(reason([](AttentionSpec& s) { s.score = {}; }), "the score has no feature map");
  EXPECT_EQ(reason([](AttentionSpec& s) { s.score.scale = -1; }), "the scale is negative");
  EXPECT_EQ(reason([](AttentionSpec& s) { s.normaliser = {}; }), "the normaliser is not a sum");
  EXPECT_EQ(reason([&](AttentionSpec& s) { s.bias.dense = dense; }), "there is a bias");
  EXPECT_EQ(reason([](AttentionSpec& s) { s.bias.soft_cap = 1; }), "the scores have a cap");
  EXPECT_EQ(reason([](AttentionSpec& s) { s.dropout.probability = 0.5; }), "there is dropout");
  const char* kMask = "the mask is more than a window to the right and key lengths";
  EXPECT_EQ(reason([](AttentionSpec& s) { s.mask = Mask::sliding_window(1, 0); }), kMask);
  EXPECT_EQ(reason([](AttentionSpec& s) { s.mask = Mask::strided({.stride = 2}); }), kMask);
  EXPECT_EQ(kLinearPlan.refusal(case_of(p.in_f64())), "it computes in f32");
  EXPECT_EQ(choose_attention_plan(case_of(p)).name, "linear");
}

TEST(LinearPlan, TakesTheSameMemoryForAnyLength) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    std::vector<Index> taken;
    for (const Index length : {256, 4096}) {
      AttentionSample p = make_problem({1, 1, 1, length, length}, FeatureMap::Kind::elu_plus_one, Mask::causal());
      for (Tensor* rows : {&p.q, &p.k, &p.v, &p.dout}) *rows = rows->to(dtype);
      const AttentionProblem c = case_of(p);
      const Tensor out = Tensor::empty_like(p.dout), stat = Tensor::empty(DType::f32, {1, 1, length});
      const Tensor dq = Tensor::empty_like(p.q), dk = Tensor::empty_like(p.k), dv = Tensor::empty_like(p.v);
      Workspace workspace;
      kLinearPlan.forward(c, {.out = out, .row_stat = stat}, workspace);
      kLinearPlan.backward(c, {.out = out, .row_stat = stat, .dout = p.dout}, {.dq = dq, .dk = dk, .dv = dv},
                           workspace);
      taken.push_back(workspace.capacity());
    }
    EXPECT_EQ(taken[0], taken[1]) << name_of(dtype);
  }
}

TEST(LinearPlan, RowsBeforeTheFirstKeyAreDeadWhateverTheyHold) {
  AttentionSample p = make_problem({1, 2, 1, 150, 70}, FeatureMap::Kind::elu_plus_one, Mask::causal());
  const AttentionAnswer clean = solve_linear(p);
  const Index dead = 150 - 70;
  p.q = p.q.clone(), p.dout = p.dout.clone();
  fill(slice(p.q.view(), 2, 0, dead), kNaN), fill(slice(p.dout.view(), 2, 0, dead), kNaN);
  const AttentionAnswer a = solve_linear(p);
  for (const auto answer : kRowAnswers) EXPECT_TRUE(same_bits(a.*answer, clean.*answer));
  for (Index h = 0; h < 2; ++h)
    for (Index i = 0; i < 150; ++i) {
      EXPECT_EQ(a.row_stat.at<float>({0, h, i}) == -kInfinity, i < dead);
      EXPECT_EQ(a.out.at<float>({0, h, i, 0}) == 0, i < dead);
      EXPECT_EQ(a.dq.at<float>({0, h, i, 0}) == 0, i < dead);
    }
}

// Fills key and value rows from `begin` on with what would spoil every sum.
void spoil_keys(AttentionSample& p, Index b, Index begin) {
  p.k = p.k.clone(), p.v = p.v.clone();
  const float garbage[] = {kNaN, kInfinity, -kInfinity};
  for (Index g = 0; g < p.k.dim(1); ++g)
    for (Index j = begin; j < p.k.dim(2); ++j) {
      for (Index d = 0; d < p.k.dim(3); ++d) p.k.at<float>({b, g, j, d}) = garbage[(j + d) % 3];
      for (Index d = 0; d < p.v.dim(3); ++d) p.v.at<float>({b, g, j, d}) = garbage[(j + d + 1) % 3];
    }
}

TEST(LinearPlan, KeysThatNoRowSeesChangeNoBitBeTheyNaN) {
  const Tensor lengths = lengths_of({100, 64});
  for (const FeatureMap::Kind map : kMaps) {
    AttentionSample padded = make_problem({2, 2, 1, 150, 150}, map, Mask::key_lengths(lengths));
    AttentionSample both = make_problem({2, 2, 1, 150, 150}, map, Mask::causal() & Mask::key_lengths(lengths));
    AttentionSample ahead = make_problem({2, 2, 1, 70, 150}, map, Mask::causal(Anchor::start));
    for (AttentionSample* p : {&padded, &both, &ahead}) {
      const AttentionAnswer clean = solve_linear(*p);
      for (Index b = 0; b < 2; ++b) spoil_keys(*p, b, p == &ahead ? 70 : lengths.at<std::int64_t>({b}));
      const AttentionAnswer a = solve_linear(*p);
      for (const auto answer : kRowAnswers) EXPECT_TRUE(same_bits(a.*answer, clean.*answer));
    }
  }
}

// Key 100 is seen by rows from 100 on: rows of its chunk one by one, later ones in their state.
TEST(LinearPlan, ANaNKeyReachesTheRowsThatSeeItAndNoOther) {
  const AttentionSample p = make_problem({1, 2, 1, 200, 200}, FeatureMap::Kind::elu_plus_one, Mask::causal());
  const AttentionAnswer clean = solve_linear(p);
  for (const bool of_value : {false, true}) {
    AttentionSample spoilt = p;
    Tensor& rows = of_value ? spoilt.v : spoilt.k;
    rows = rows.clone();
    rows.at<float>({0, 0, 100, 1}) = kNaN;
    const AttentionAnswer a = solve_linear(spoilt);
    for (const auto answer : {&AttentionAnswer::out, &AttentionAnswer::row_stat, &AttentionAnswer::dq}) {
      EXPECT_TRUE(same_bits(slice((a.*answer).view(), 2, 0, 100), slice((clean.*answer).view(), 2, 0, 100)));
    }
    for (Index h = 0; h < 2; ++h)
      for (Index i = 100; i < 200; ++i) {
        EXPECT_TRUE(std::isnan(a.out.at<float>({0, h, i, 1}))) << i;
        EXPECT_TRUE(std::isnan(a.dq.at<float>({0, h, i, 1}))) << i;
        EXPECT_EQ(std::isnan(a.row_stat.at<float>({0, h, i})), !of_value) << i;
        EXPECT_EQ(std::isnan(a.out.at<float>({0, h, i, 0})), !of_value) << i;
      }
  }
}

TEST(LinearPlan, ANaNQueryReachesItsRowAndTheKeysThatItSees) {
  AttentionSample p = make_problem({1, 2, 1, 200, 200}, FeatureMap::Kind::elu_plus_one, Mask::causal());
  const AttentionAnswer clean = solve_linear(p);
  p.q = p.q.clone();
  p.q.at<float>({0, 1, 100, 1}) = kNaN;
  const AttentionAnswer a = solve_linear(p);
  for (const auto answer : {&AttentionAnswer::out, &AttentionAnswer::row_stat, &AttentionAnswer::dq})
    for (Index h = 0; h < 2; ++h)
      for (Index i = 0; i < 200; ++i) {
        const bool same = same_bits(select(select((a.*answer).view(), 1, h), 1, i),
                                    select(select((clean.*answer).view(), 1, h), 1, i));
        EXPECT_EQ(same, h == 0 || i != 100) << h << " " << i;
      }
  EXPECT_TRUE(std::isnan(a.out.at<float>({0, 1, 100, 0})));
  for (const auto answer : {&AttentionAnswer::dk, &AttentionAnswer::dv}) {
    EXPECT_TRUE(same_bits(slice((a.*answer).view(), 2, 101, 200), slice((clean.*answer).view(), 2, 101, 200)));
    for (Index j = 0; j <= 100; ++j) EXPECT_TRUE(std::isnan((a.*answer).at<float>({0, 0, j, 0}))) << j;
  }
}

TEST(LinearPlan, ASumOfZeroGivesWeightsOfZero) {
  for (const Mask& mask : {Mask{}, Mask::causal()}) {
    AttentionSample p = make_problem({1, 1, 1, 100, 100}, FeatureMap::Kind::relu, mask);
    fill(slice(p.q.view(), 2, 10, 80), -1);
    fill(slice(p.k.view(), 2, 0, 5), -1);
    expect_as_good_as_plain(p, "zero sums");
    const AttentionAnswer a = solve_linear(p);
    for (Index i = 10; i < 80; ++i) {
      EXPECT_EQ(a.row_stat.at<float>({0, 0, i}), 0);
      for (Index d = 0; d < 6; ++d) EXPECT_EQ(a.out.at<float>({0, 0, i, d}), 0);
    }
  }
}

TEST(LinearPlan, AnElementOfABatchHasTheSameBitsAlone) {
  const Tensor lengths = lengths_of({70, 150, 64});
  AttentionSample p =
      make_problem({3, 4, 2, 150, 150}, FeatureMap::Kind::elu_plus_one, Mask::causal() & Mask::key_lengths(lengths));
  const AttentionAnswer together = solve_linear(p);
  for (Index b = 0; b < 3; ++b) {
    AttentionSample alone = p;
    for (const auto rows : {&AttentionSample::q, &AttentionSample::k, &AttentionSample::v, &AttentionSample::dout,
                            &AttentionSample::drow_stat}) {
      alone.*rows = (p.*rows).rows(b, b + 1);
    }
    const Tensor length = lengths.rows(b, b + 1);
    alone.spec.mask.lengths = length;
    const AttentionAnswer one = solve_linear(alone);
    for (const auto answer : kRowAnswers) EXPECT_TRUE(same_bits((together.*answer).rows(b, b + 1), one.*answer));
  }
}

Tensor padded_rows(const Tensor& tensor, Index rows, std::uint64_t seed) {
  const Tensor longer = tensor.rank() == 3
                            ? random_tensor(tensor.dtype(), {tensor.dim(0), tensor.dim(1), rows}, seed)
                            : random_tensor(tensor.dtype(), {tensor.dim(0), tensor.dim(1), rows, tensor.dim(3)}, seed);
  copy(tensor, slice(longer.view(), 2, 0, tensor.dim(2)));
  return longer;
}

TEST(LinearPlan, KeysBehindTheMaskAndRowsBehindTheLastChangeNoBit) {
  const Tensor lengths = lengths_of({75, 20});
  for (const Mask& mask : {Mask::key_lengths(lengths), Mask::causal(Anchor::start) & Mask::key_lengths(lengths)}) {
    const AttentionSample p = make_problem({2, 2, 1, 70, 75}, FeatureMap::Kind::positive_random, mask);
    const AttentionAnswer before = solve_linear(p);
    for (const Index keys : {76, 128, 300})
      for (const Index queries : {70, 71, 200}) {
        AttentionSample longer = p;
        longer.q = padded_rows(p.q, queries, 21), longer.dout = padded_rows(p.dout, queries, 22);
        longer.drow_stat = padded_rows(p.drow_stat, queries, 25);
        longer.k = padded_rows(p.k, keys, 23), longer.v = padded_rows(p.v, keys, 24);
        fill(slice(longer.dout.view(), 2, 70, queries), 0);  // a padded position has no loss
        fill(slice(longer.drow_stat.view(), 2, 70, queries), 0);
        const AttentionAnswer after = solve_linear(longer);
        for (const auto answer : kRowAnswers) {
          const Tensor& rows = before.*answer;
          EXPECT_TRUE(same_bits(slice((after.*answer).view(), 2, 0, rows.dim(2)), rows)) << keys << " " << queries;
        }
      }
  }
}

// Heads whose rows lie side by side are taken together, as many as there are for each thread.
TEST(LinearPlan, TheThreadCountChangesNoBitWhereverHeadsLie) {
  const int threads = thread_count();
  AttentionSample p = make_problem({5, 6, 3, 200, 200, 32, 32}, FeatureMap::Kind::elu_plus_one, Mask::causal());
  set_thread_count(1);
  const AttentionAnswer one = solve_linear(p);
  for (const testing::RowLayout layout : {testing::RowLayout::heads_first, testing::RowLayout::length_first})
    for (const int count : {1, 2, 3, 7}) {
      p.layout = layout;
      set_thread_count(count);
      const AttentionAnswer many = solve_linear(p);
      for (const auto answer : kRowAnswers) EXPECT_TRUE(same_bits(one.*answer, many.*answer)) << count;
    }
  set_thread_count(threads);
}

TEST(LinearPlan, ReadsAPagedCacheWithTheSameBits) {
  const Tensor lengths = lengths_of({100, 40});
  AttentionSample p = make_problem({2, 4, 2, 3, 128}, FeatureMap::Kind::elu_plus_one,
                                   Mask::causal(Anchor::length) & Mask::key_lengths(lengths));
  const AttentionAnswer apart = solve_linear(p);
  p.page = 16;
  const AttentionAnswer paged = solve_linear(p);
  EXPECT_TRUE(same_bits(paged.out, apart.out));
  EXPECT_TRUE(same_bits(paged.row_stat, apart.row_stat));
}

TEST(LinearPlan, ComputesOnlyWhatIsWanted) {
  const AttentionSample p = make_problem({1, 2, 1, 100, 130}, FeatureMap::Kind::elu_plus_one, Mask::causal());
  const AttentionAnswer all = solve_linear(p);
  const AttentionProblem c = case_of(p), weights_only = make_attention_problem("test", p.q, p.k, {}, p.spec);
  Workspace workspace;
  const Tensor weights = Tensor::zeros_like(all.weights), stat = Tensor::zeros_like(all.row_stat);
  kLinearPlan.forward(weights_only, {.row_stat = stat, .weights = weights}, workspace);
  EXPECT_TRUE(same_bits(weights, all.weights));
  EXPECT_TRUE(same_bits(stat, all.row_stat));
  const AttentionSaved saved{.out = all.out, .row_stat = all.row_stat, .dout = p.dout, .drow_stat = p.drow_stat};
  const Tensor dq = Tensor::zeros_like(all.dq), dk = Tensor::zeros_like(all.dk), dv = Tensor::zeros_like(all.dv);
  kLinearPlan.backward(c, saved, {.dq = dq}, workspace);
  kLinearPlan.backward(c, saved, {.dk = dk}, workspace);
  kLinearPlan.backward(c, saved, {.dv = dv}, workspace);
  EXPECT_TRUE(same_bits(dq, all.dq));
  EXPECT_TRUE(same_bits(dk, all.dk));
  EXPECT_TRUE(same_bits(dv, all.dv));
  kLinearPlan.backward(c, saved, {}, workspace);
}

}  // namespace
}  // namespace heed
