// What a call refuses: the message names the function, the rule and the shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "heed/ops/attention/attention.h"
#include "heed/testing/attention_kinds.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::AttentionSample;
using testing::plain_problem;
using testing::refusal;

constexpr testing::AttentionShape kRefusedShape{
    .batch = 2, .heads = 4, .key_heads = 2, .queries = 3, .keys = 5, .width = 8, .value_width = 6};

Tensor zeros(std::initializer_list<Index> shape, DType dtype = DType::f32) { return Tensor::zeros(dtype, shape); }

// The refusal of a problem that was spoilt; out is of the sound one.
std::string failing(const std::function<void(AttentionSample&)>& spoil) {
  AttentionSample p = plain_problem(kRefusedShape);
  spoil(p);
  Workspace workspace;
  const Tensor out = zeros({2, 4, 3, 6});
  return refusal([&] { attention(p.q, p.k, p.v, p.spec, {.out = out}, workspace); });
}

TEST(AttentionErrors, RanksTypesShapesAndStrides) {
  EXPECT_EQ(failing([](AttentionSample&) {}), "no error");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.q = zeros({2, 3, 8});
            }),
            "attention: q must be [B, H, Lq, D], but is f32 [2, 3, 8]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.q = zeros({2, 4, 3, 8}, DType::i32);
            }),
            "attention: q must be f32, bf16, f16 or f64, but is i32 [2, 4, 3, 8]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.v = zeros({5, 6});
            }),
            "attention: v must be [B, Hk, Lk, Dv], but is f32 [5, 6]");
  EXPECT_EQ(failing([](AttentionSample& p) { p.k = p.k.to(DType::f64); }),
            "attention: k must be f32 as q is, or bf16, f16 or i8, but is f64 [2, 2, 5, 8]");
  EXPECT_EQ(failing([](AttentionSample& p) { p.q = p.q.to(DType::bf16); }),
            "attention: k must be bf16 as q is, or i8, but is f32 [2, 2, 5, 8]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.k = zeros({2, 2, 5, 7});
            }),
            "attention: q [B, H, Lq, D] and k [B, Hk, Lk, D] must agree in B and D >= 1, but are f32 [2, 4, 3, 8] and "
            "f32 [2, 2, 5, 7]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.k = zeros({1, 2, 5, 8});
            }),
            "attention: q [B, H, Lq, D] and k [B, Hk, Lk, D] must agree in B and D >= 1, but are f32 [2, 4, 3, 8] and "
            "f32 [1, 2, 5, 8]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.k = zeros({2, 3, 5, 8});
            }),
            "attention: the heads of q must be a multiple of the heads of k, but q is f32 [2, 4, 3, 8] and k f32 [2, "
            "3, 5, 8]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.v = zeros({2, 2, 4, 6});
            }),
            "attention: k and v must agree in [B, Hk, Lk], but are f32 [2, 2, 5, 8] and f32 [2, 2, 4, 6]");
  EXPECT_EQ(failing([](AttentionSample& p) { p.v = Tensor(); }), "attention: out is wanted, but v is an empty view");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.v = zeros({2, 2, 5, 7});
            }),
            "attention: out must be f32 of shape [2, 4, 3, 7] with stride 1 along its last axis, but is f32 [2, 4, 3, "
            "6]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.q = zeros({2, 0, 3, 8});
            }),
            "attention: q must have at least one head, but is f32 [2, 0, 3, 8]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.v = zeros({2, 2, 5, 0});
            }),
            "attention: the values must have a width Dv from 1 to 1073741824, but v is f32 [2, 2, 5, 0]");
  const Tensor one = zeros({1, 1, 1, 8});
  View repeated = one.view();
  repeated.shape[2] = (Index{1} << 30) + 1, repeated.stride[2] = 0;
  EXPECT_EQ(failing([&](AttentionSample& p) { p.k = Tensor::borrow(repeated); }),
            "attention: sequences may have up to 1073741824 queries and keys of up to as many numbers, but q is f32 "
            "[2, 4, 3, 8] and k f32 [1, 1, 1073741825, 8] with strides [8, 8, 0, 1]");
  const Tensor turned = zeros({2, 4, 8, 3});
  EXPECT_EQ(failing([&](AttentionSample& p) { p.q = Tensor::borrow(transpose(turned.view(), 2, 3)); }),
            "attention: q must have stride 1 along its last axis, but is f32 [2, 4, 3, 8] with strides [96, 24, 1, 3]");
}

TEST(AttentionErrors, OfTheScore) {
  EXPECT_EQ(failing([](AttentionSample& p) { p.spec.score.kind = Score::Kind::additive; }),
            "attention: the additive score's vector must be a contiguous vector f32 [8], but is an empty view");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.vector = zeros({8}), p.spec.score.kind = Score::Kind::additive, p.spec.score.scale = 2, p.bind();
            }),
            "attention: the additive score has no scale, but 2 was given");
  EXPECT_EQ(failing([](AttentionSample& p) { p.spec.score.scale = std::nan(""); }),
            "attention: the scale must be finite, but is nan");
  EXPECT_EQ(failing([](AttentionSample& p) { p.spec.score.scale = HUGE_VAL; }),
            "attention: the scale must be finite, but is inf");
  const FeatureMap random{.kind = FeatureMap::Kind::positive_random};
  EXPECT_EQ(
      failing([&](AttentionSample& p) { p.spec.score = Score::features(random); }),
      "attention: random features need a projection f32 [M >= 1, D = 8] with stride 1 along D, but got an empty view");
  EXPECT_EQ(
      failing([&](AttentionSample& p) {
        p.spec.score = Score::features(random), p.projection = zeros({4, 7}), p.bind();
      }),
      "attention: random features need a projection f32 [M >= 1, D = 8] with stride 1 along D, but got f32 [4, 7]");
  EXPECT_EQ(failing([&](AttentionSample& p) {
              p.spec.score = Score::features(random, -1.0), p.projection = zeros({4, 8}), p.bind();
            }),
            "attention: the scale of random features must be positive, but is -1");
}

TEST(AttentionErrors, OfTheBias) {
  EXPECT_EQ(failing([](AttentionSample& p) { p.spec.bias.soft_cap = 0; }),
            "attention: the soft-cap must be positive and finite, but is 0");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.dense = zeros({2, 3, 3, 5}), p.bind();
            }),
            "attention: the dense bias must be f32, bf16 or f16 [B | 1, H | 1, Lq | 1, Lk | 1] of [2, 4, 3, 5], but is "
            "f32 [2, 3, 3, 5]");
  EXPECT_EQ(failing([](AttentionSample& p) { p.alibi = zeros({2}), p.bind(); }),
            "attention: the ALiBi slopes must be f32 [H = 4], but are f32 [2]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.relative = zeros({8, 2}), p.bind();
            }),
            "attention: the relative bias must be f32 [buckets >= 4, H = 4], but is f32 [8, 2]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.relative = zeros({8, 4}), p.spec.bias.relative.max_distance = 2, p.bind();
            }),
            "attention: the relative bias's max_distance must be above 2, but is 2");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.centre = zeros({2, 4, 5}), p.bind();
            }),
            "attention: the Gaussian's centre must be f32 [B | 1, H | 1, Lq] of [2, 4, 3], but is f32 [2, 4, 5]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.centre = zeros({1, 1, 3}), p.spec.bias.gaussian.sigma = 0, p.bind();
            }),
            "attention: the Gaussian's sigma must be positive and finite, but is 0");
}

TEST(AttentionErrors, OfTheNormaliserAndDropout) {
  EXPECT_EQ(failing([](AttentionSample& p) { p.sinks = zeros({2}), p.bind(); }),
            "attention: the sinks must be a contiguous vector f32 [4], but is f32 [2]");
  EXPECT_EQ(failing([](AttentionSample& p) {
              p.sinks = zeros({4}), p.bind(), p.spec.normaliser.kind = Normaliser::Kind::sparsemax;
            }),
            "attention: only softmax has sinks");
  EXPECT_EQ(failing([](AttentionSample& p) { p.spec.dropout.probability = 1; }),
            "attention: the dropout probability must be in [0, 1), but is 1");
  EXPECT_EQ(failing([](AttentionSample& p) { p.spec.dropout.probability = std::nan(""); }),
            "attention: the dropout probability must be in [0, 1), but is nan");
}

TEST(AttentionErrors, OfTheMaskNameTheCall) {
  const Tensor three = zeros({3}, DType::i32), long_keys = Tensor::from(std::vector<std::int32_t>{6, 0}, {2});
  const Tensor narrow = zeros({2, 1, 1, 3}, DType::boolean);
  const auto with = [](const Mask& mask) { return failing([&](AttentionSample& p) { p.spec.mask = mask; }); };
  EXPECT_EQ(with(Mask::key_lengths(three)), "attention: key lengths must be i32 or i64 [2], but are i32 [3]");
  EXPECT_EQ(with(Mask::key_lengths(long_keys)),
            "attention: key lengths must be in [0, Lk = 5], but that of batch element 0 is 6");
  EXPECT_EQ(with(Mask::boolean(narrow)),
            "attention: the boolean mask must be boolean [B | 1, H | 1, Lq | 1, Lk | 1] of [2, 4, 3, 5], but is "
            "boolean [2, 1, 1, 3]");
}

TEST(AttentionErrors, OfPages) {
  const auto paged = [](const std::vector<std::int32_t>& numbers, Index count, bool lengths = true) {
    const Tensor pages = Tensor::from(numbers, {2, count}), all = Tensor::from(std::vector<std::int32_t>{4, 3}, {2});
    return failing([&](AttentionSample& p) {
      p.k = zeros({3, 2, 2, 8}), p.v = zeros({3, 2, 2, 6});
      p.spec.sequences.pages = pages;
      if (lengths) p.spec.mask.lengths = all;
    });
  };
  EXPECT_EQ(paged({0, 1, 2, 0}, 2), "no error");
  EXPECT_EQ(paged({0, 1, 2, 0}, 2, false), "attention: a paged cache needs key lengths");
  EXPECT_EQ(paged({0, 1, 2, -1}, 2),
            "attention: batch element 1 has 3 keys, but its page 1 is -1, a null page: the pool has 3 pages");
  EXPECT_EQ(paged({0, 3, 2, 1}, 2),
            "attention: batch element 0 has 4 keys, but its page 1 is 3, a null page: the pool has 3 pages");
  EXPECT_EQ(paged({0, 1}, 1), "attention: key lengths must be in [0, Lk = 2], but that of batch element 0 is 4");
}

TEST(AttentionErrors, OfPackedSequences) {
  const auto packed = [](const std::vector<std::int32_t>& queries, const std::vector<std::int32_t>& keys,
                         bool weights = false) {
    const AttentionSample p = plain_problem({.queries = 4, .keys = 6});
    const Tensor of_queries = Tensor::from(queries, {std::ssize(queries)});
    const Tensor of_keys = Tensor::from(keys, {std::ssize(keys)});
    AttentionSpec spec;
    spec.sequences = {.query_offsets = of_queries, .key_offsets = of_keys};
    Workspace workspace;
    const Tensor out = zeros({1, 1, 4, 8}), square = zeros({1, 1, 4, 6});
    AttentionResult result{.out = out};
    if (weights) result.weights = square;
    return refusal([&] { attention(p.q, p.k, p.v, spec, result, workspace); });
  };
  EXPECT_EQ(packed({0, 1, 4}, {0, 3, 6}), "no error");
  EXPECT_EQ(packed({0, 3, 1, 4}, {0, 1, 2, 6}),
            "attention: query offsets must begin at 0 and not fall, but 1 follows 3");
  EXPECT_EQ(packed({0, 4}, {1, 6}), "attention: key offsets must begin at 0 and not fall, but 1 follows 0");
  EXPECT_EQ(packed({0, 5}, {0, 6}), "attention: query offsets end at 5, but the packed rows are f32 [1, 1, 4, 8]");
  EXPECT_EQ(packed({0, 4}, {0, 1, 6}),
            "attention: query and key offsets must be of the same sequences, but are i32 [2] and i32 [3]");
  EXPECT_EQ(packed({0, 4}, {0, 6}, true),
            "attention: packed sequences give no weights and no scores, which have no one shape");
}

// A forward call's outputs, for the backward calls below.
struct Saved {
  AttentionSample p = plain_problem(kRefusedShape);
  Tensor out = zeros({2, 4, 3, 6}), stat = zeros({2, 4, 3});

  std::string refused(const AttentionGrad& grad, const AttentionSpec& spec = {}) const {
    Workspace workspace;
    const AttentionSaved saved{.out = out.view(), .row_stat = stat.view(), .dout = p.dout.view()};
    return refusal([&] { attention_backward(p.q, p.k, p.v, spec, saved, grad, workspace); });
  }
};

TEST(AttentionErrors, OfGradients) {
  const Saved s;
  const Tensor like_k = zeros({2, 2, 5, 8}), vector = zeros({8});
  EXPECT_EQ(s.refused({.dk = like_k}), "no error");
  EXPECT_EQ(s.refused({.dq = like_k}),
            "attention_backward: dq must be f32 of shape [2, 4, 3, 8] with stride 1 along its last axis, but is f32 "
            "[2, 2, 5, 8]");
  EXPECT_EQ(s.refused({.dbias = like_k}), "attention_backward: dbias is wanted, but the call has no dense bias");
  EXPECT_EQ(s.refused({.dadditive_vector = vector}),
            "attention_backward: dadditive_vector is wanted, but the call has no additive score");
  EXPECT_EQ(s.refused({.dsinks = vector}), "attention_backward: dsinks is wanted, but the call has no sinks");
  EXPECT_EQ(s.refused({.drelative = vector}),
            "attention_backward: drelative is wanted, but the call has no relative bias");
  EXPECT_EQ(s.refused({.dcentre = vector}), "attention_backward: dcentre is wanted, but the call has no Gaussian bias");
  const Tensor sinks = zeros({4});
  EXPECT_EQ(s.refused({.dsinks = vector}, {.normaliser = Normaliser::softmax(sinks)}),
            "attention_backward: dsinks must be f32 of shape [4] with stride 1 along its last axis, but is f32 [8]");
  Workspace workspace;
  EXPECT_EQ(refusal([&] {
              attention_backward(s.p.q, s.p.k, s.p.v, {}, {.out = s.out.view(), .dout = s.p.dout.view()},
                                 {.dk = like_k}, workspace);
            }),
            "attention_backward: v, out, row_stat and dout must be given, but are f32 [2, 2, 5, 6], f32 [2, 4, 3, 6], "
            "an empty view and f32 [2, 4, 3, 6]");
}

TEST(AttentionErrors, WhatIsWrittenMayNotLieInWhatIsReadOrWritten) {
  const Saved s;
  Workspace workspace;
  AttentionSample p = plain_problem({.queries = 5, .keys = 5});
  EXPECT_EQ(refusal([&] { attention(p.q, p.k, p.v, {}, {.out = p.v}, workspace); }),
            "attention: out overlaps v: f32 [1, 1, 5, 8] and f32 [1, 1, 5, 8]");
  const Tensor square = zeros({1, 1, 5, 5});
  EXPECT_EQ(refusal([&] { attention(p.q, p.k, p.v, {}, {.weights = square, .scores = square}, workspace); }),
            "attention: scores overlaps weights: f32 [1, 1, 5, 5] and f32 [1, 1, 5, 5]");
  EXPECT_EQ(s.refused({.dq = s.p.q}), "attention_backward: dq overlaps q: f32 [2, 4, 3, 8] and f32 [2, 4, 3, 8]");
  EXPECT_EQ(s.refused({.dv = s.p.v}), "attention_backward: dv overlaps v: f32 [2, 2, 5, 6] and f32 [2, 2, 5, 6]");
  const Tensor row = zeros({1, 1, 1, 8});
  View spread = row.view();
  spread.shape[2] = 5, spread.stride[2] = 0;
  EXPECT_EQ(refusal([&] { attention(p.q, p.k, p.v, {}, {.out = spread}, workspace); }),
            "attention: elements of out share memory, but it is written: f32 [1, 1, 5, 8] with strides [8, 8, 0, 1]");
}

TEST(AttentionErrors, OfChosenWeights) {
  const AttentionSample p = plain_problem(kRefusedShape);
  const Tensor stat = zeros({2, 4, 3}), weights = zeros({2, 4, 3, 5});
  Workspace workspace;
  const auto asked = [&](const AttentionSelection& chosen) {
    return refusal([&] { attention_weights(p.q, p.k, {}, stat, weights, workspace, chosen); });
  };
  EXPECT_EQ(asked({}), "no error");
  EXPECT_EQ(asked({.heads = {4}}), "attention_weights: head 4 is wanted, but there are 4");
  EXPECT_EQ(asked({.rows = {0, -1}}), "attention_weights: row -1 is wanted, but there are 3");
  EXPECT_EQ(asked({.heads = {1}}),
            "attention_weights: weights must be f32 of shape [2, 1, 3, 5] with stride 1 along its last axis, but is "
            "f32 [2, 4, 3, 5]");
}

}  // namespace
}  // namespace heed
