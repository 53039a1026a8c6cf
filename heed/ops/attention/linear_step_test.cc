#include "heed/ops/attention/linear_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/ops/attention/attention.h"
#include "heed/testing/attention_answer.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

constexpr Index kBatch = 2, kHeads = 4, kKeyHeads = 2, kLength = 150, kWidth = 8, kValueWidth = 6, kRandom = 11;

struct Sequence {
  Tensor q, k, v, projection;
  Score score;

  Index features() const { return projection.is_empty() ? kWidth : kRandom; }
  LinearState no_tokens() const {
    return LinearState::zeros(kBatch, kKeyHeads, features(), kValueWidth,
                              q.dtype() == DType::f64 ? DType::f64 : DType::f32);
  }
  // Steps over tokens [begin, end).
  void step(Index begin, Index end, const LinearState& state, const View& out) const {
    linear_step(slice(q.view(), 2, begin, end), slice(k.view(), 2, begin, end), slice(v.view(), 2, begin, end), score,
                state, out ? slice(out, 2, begin, end) : out);
  }
};

Sequence make_sequence(FeatureMap::Kind map, DType q = DType::f32, DType k = DType::f32) {
  Sequence x;
  x.q = random_tensor(q, {kBatch, kHeads, kLength, kWidth}, 1);
  x.k = random_tensor(k, {kBatch, kKeyHeads, kLength, kWidth}, 2);
  x.v = random_tensor(k, {kBatch, kKeyHeads, kLength, kValueWidth}, 3);
  if (map == FeatureMap::Kind::positive_random) {
    x.projection = Tensor::empty(q == DType::f64 ? q : DType::f32, {kRandom, kWidth});
    orthogonal_random_features(x.projection, 4);
  }
  x.score = Score::features({.kind = map, .projection = x.projection});
  return x;
}

Tensor decode(const Sequence& x, const LinearState& state, const std::vector<Index>& cuts) {
  const Tensor out = Tensor::empty(x.q.dtype(), {kBatch, kHeads, kLength, kValueWidth});
  for (std::size_t n = 1; n < cuts.size(); ++n) x.step(cuts[n - 1], cuts[n], state, out);
  return out;
}

std::vector<Index> token_by_token() {
  std::vector<Index> cuts;
  for (Index t = 0; t <= kLength; ++t) cuts.push_back(t);
  return cuts;
}

constexpr FeatureMap::Kind kMaps[] = {FeatureMap::Kind::elu_plus_one, FeatureMap::Kind::relu,
                                      FeatureMap::Kind::positive_random};

// The rule that plans are held to.
TEST(LinearStep, ASequenceDecodedTokenByTokenIsTheCausalCall) {
  for (const FeatureMap::Kind map : kMaps)
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      const Sequence x = make_sequence(map, dtype, dtype);
      testing::AttentionSample p;
      p.q = x.q, p.k = x.k, p.v = x.v, p.projection = x.projection;
      p.dout = Tensor::zeros(dtype, {kBatch, kHeads, kLength, kValueWidth});
      p.spec = {.score = x.score, .mask = Mask::causal(), .normaliser = Normaliser::sum()};
      p.bind();
      testing::AttentionAnswer answer;
      answer.out = decode(x, x.no_tokens(), token_by_token());
      EXPECT_EQ(testing::AttentionYardstick(p).complaint(answer), "") << static_cast<int>(map) << name_of(dtype);
    }
}

TEST(LinearStep, IsTheDefinitionInDouble) {
  for (const FeatureMap::Kind map : kMaps) {
    const Sequence x = make_sequence(map, DType::f64, DType::f64);
    const Tensor out = decode(x, x.no_tokens(), token_by_token()), whole = Tensor::empty_like(out);
    Workspace workspace;
    attention(x.q, x.k, x.v, {.score = x.score, .mask = Mask::causal(), .normaliser = Normaliser::sum()},
              {.out = whole}, workspace);
    EXPECT_LT(largest_difference(out, whole), 1e-12);
  }
}

TEST(LinearStep, CutsChangeNoBitOfTheOutputAndTheState) {
  const Sequence x = make_sequence(FeatureMap::Kind::elu_plus_one, DType::f32, DType::bf16);
  const LinearState one = x.no_tokens(), other = x.no_tokens();
  const Tensor together = decode(x, one, {0, kLength}), apart = decode(x, other, {0, 0, 1, 64, 65, 140, kLength});
  EXPECT_TRUE(same_bits(together, apart));
  EXPECT_TRUE(same_bits(one.values, other.values));
  EXPECT_TRUE(same_bits(one.sums, other.sums));
}

TEST(LinearStep, GoesOnFromTokensThatWereOnlyRemembered) {
  const Sequence x = make_sequence(FeatureMap::Kind::relu);
  const Tensor whole = decode(x, x.no_tokens(), {0, kLength}), rest = Tensor::zeros_like(whole);
  const LinearState state = x.no_tokens();
  x.step(0, 100, state, {});
  x.step(100, kLength, state, rest);
  EXPECT_TRUE(same_bits(slice(rest.view(), 2, 100, kLength), slice(whole.view(), 2, 100, kLength)));
}

TEST(LinearStep, NeitherTheBatchNorTheThreadCountChangesABit) {
  const int threads = thread_count();
  const Sequence x = make_sequence(FeatureMap::Kind::elu_plus_one);
  set_thread_count(1);
  const Tensor one = decode(x, x.no_tokens(), {0, kLength});
  set_thread_count(3);
  EXPECT_TRUE(same_bits(decode(x, x.no_tokens(), {0, kLength}), one));
  for (Index b = 0; b < kBatch; ++b) {
    const Tensor alone = Tensor::empty(DType::f32, {1, kHeads, kLength, kValueWidth});
    linear_step(x.q.rows(b, b + 1), x.k.rows(b, b + 1), x.v.rows(b, b + 1), x.score,
                LinearState::zeros(1, kKeyHeads, kWidth, kValueWidth), alone);
    EXPECT_TRUE(same_bits(alone, one.rows(b, b + 1)));
  }
  set_thread_count(threads);
}

TEST(LinearStep, ASumOfZeroGivesZeroAndANaNStays) {
  Sequence x = make_sequence(FeatureMap::Kind::relu);
  fill(slice(x.q.view(), 2, 5, 6), -1);
  x.k.at<float>({1, 1, 90, 3}) = std::numeric_limits<float>::quiet_NaN();
  const Tensor out = decode(x, x.no_tokens(), token_by_token());
  for (Index h = 0; h < kHeads; ++h) {
    for (Index d = 0; d < kValueWidth; ++d) EXPECT_EQ(out.at<float>({0, h, 5, d}), 0);
    for (Index t = 1; t < kLength; ++t) {
      EXPECT_EQ(std::isnan(out.at<float>({1, h, t, 0})), h >= 2 && t >= 90) << t;
      EXPECT_FALSE(std::isnan(out.at<float>({0, h, t, 0})));
    }
  }
}

TEST(LinearStep, RefusesOperandsThatDisagree) {
  const Sequence x = make_sequence(FeatureMap::Kind::elu_plus_one);
  const LinearState state = x.no_tokens();
  const Tensor out = Tensor::zeros(DType::f32, {kBatch, kHeads, kLength, kValueWidth});
  EXPECT_EQ(refusal([&] { linear_step(x.q, x.k, x.v, x.score, state, out); }), "no error");
  EXPECT_EQ(refusal([&] { linear_step(x.q, x.k, x.v, {}, state, out); }),
            "linear_step: the score must have a feature map");
  EXPECT_EQ(refusal([&] { linear_step(x.q, x.k, {}, x.score, state, out); }), "linear_step: v must be given");
  EXPECT_EQ(refusal([&] { linear_step(slice(x.q.view(), 2, 0, 3), x.k, x.v, x.score, state, out); }),
            "linear_step: q and k must be of the same tokens, but are f32 [2, 4, 3, 8] with strides [4800, 1200, 8, 1] "
            "and f32 [2, 2, 150, 8]");
  EXPECT_EQ(refusal([&] { linear_step(x.q, x.k, x.v, x.score, LinearState::zeros(2, 2, 7, 6), out); }),
            "linear_step: the state must be contiguous f32 of shapes [2, 2, 8, 6] and [2, 2, 8], but is f32 [2, 2, 7, "
            "6] and f32 "
            "[2, 2, 7]");
  EXPECT_EQ(
      refusal([&] { linear_step(x.q, x.k, x.v, x.score, {}, out); }),
      "linear_step: the state must be contiguous f32 of shapes [2, 2, 8, 6] and [2, 2, 8], but is an empty view and an "
      "empty view");
  EXPECT_EQ(refusal([&] { linear_step(x.q, x.k, x.v, x.score, state, x.q.clone()); }),
            "linear_step: out must be f32 of shape [2, 4, 150, 6] with stride 1 along its last axis, but is f32 [2, 4, "
            "150, 8]");
  EXPECT_EQ(refusal([&] { linear_step(x.q, x.k, x.v, x.score, state, slice(x.q.view(), 3, 0, 6)); }).substr(0, 30),
            "linear_step: out overlaps q: f");
}

}  // namespace
}  // namespace heed
