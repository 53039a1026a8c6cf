#include "heed/tasks/explain/attention_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/ops/attention/attention.h"
#include "heed/tasks/explain/explanation_text.h"
#include "heed/tasks/explain/matrix_text.h"
#include "heed/tasks/explain/walk_matrices.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/not_finite.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::kInfinity;

Values values_of(const Explanation& walk, const char* step, std::size_t matrix = 0) {
  return walk.step(step).matrices.at(matrix).values;
}

AttentionInputs random_problem(Index batch, Index heads, Index key_heads, Index queries, Index keys) {
  return {.q = testing::random_tensor(DType::f64, {batch, heads, queries, 5}, 1),
          .k = testing::random_tensor(DType::f64, {batch, key_heads, keys, 5}, 2),
          .v = testing::random_tensor(DType::f64, {batch, key_heads, keys, 3}, 3)};
}

TEST(ExplainAttention, TheTwoByTwoExampleHasItsStatedNumbers) {
  const Explanation walk = explain_attention(two_by_two_inputs());
  EXPECT_EQ(values_of(walk, "scores"), (Values{1, 1, 1, 2}));
  const double third = 1 / std::sqrt(3.0);
  expect_close(values_of(walk, "scaled"), {third, third, third, 2 * third}, 1e-15);
  EXPECT_EQ(values_of(walk, "masked"), values_of(walk, "scaled"));
  const double small = std::exp(third), large = std::exp(2 * third);
  expect_close(values_of(walk, "exponentials"), {small, small, 2 * small, small, large, small + large}, 1e-14);
  expect_close(values_of(walk, "weights"), {0.5, 0.5, small / (small + large), large / (small + large)}, 1e-15);
  expect_close(values_of(walk, "output"), {2, 3, 1 + 2 * large / (small + large), 2 + 2 * large / (small + large)},
               1e-14);
}

TEST(ExplainAttention, TheTwoByTwoExampleIsPrintedAsTutorialsPrintIt) {
  const std::string text = to_text(explain_attention(two_by_two_inputs()), 3);
  EXPECT_NE(text.find("   scores [2, 2]\n       k1  k2\n   q1   1   1\n   q2   1   2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("   scaled [2, 2]\n          k1     k2\n   q1  0.577  0.577\n   q2  0.577  1.155\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("   weights [2, 2]\n          k1     k2\n   q1  0.500  0.500\n   q2  0.360  0.640\n"),
            std::string::npos)
      << text;
}

TEST(ExplainAttention, ACausalMaskLeavesTheFirstQueryItsOwnKey) {
  AttentionInputs problem = two_by_two_inputs();
  problem.causal = true;
  const Explanation walk = explain_attention(problem);
  EXPECT_EQ(values_of(walk, "masked")[1], -kInfinity);
  EXPECT_EQ(values_of(walk, "scaled")[1], values_of(walk, "scaled")[0]) << "the scaled scores come before the mask";
  expect_close(values_of(walk, "weights"), {1, 0, 0.3595, 0.6405}, 1e-4);
  expect_close(values_of(walk, "output"), {1, 2, 2.2810, 3.2810}, 1e-4);
  EXPECT_NE(to_text(walk, 3).find("   q1  0.577   -inf\n"), std::string::npos);
}

TEST(ExplainAttention, EveryNumberIsTheOperators) {
  for (const bool causal : {false, true}) {
    AttentionInputs problem = random_problem(2, 4, 2, 3, 5);
    problem.causal = causal;
    const Explanation walk = explain_attention(problem);
    const Tensor scores = Tensor::zeros(DType::f64, {2, 4, 3, 5}), weights = Tensor::zeros(DType::f64, {2, 4, 3, 5});
    const Tensor out = Tensor::zeros(DType::f64, {2, 4, 3, 3});
    Workspace workspace;
    attention(problem.q, problem.k, problem.v, {.mask = causal ? Mask::causal() : Mask{}},
              {.out = out, .weights = weights, .scores = scores}, workspace);
    for (Index b = 0; b < 2; ++b) {
      for (Index h = 0; h < 4; ++h) {
        const std::size_t at = static_cast<std::size_t>(b * 4 + h);
        for (Index i = 0; i < 3; ++i) {
          for (Index j = 0; j < 5; ++j) {
            const std::size_t cell = static_cast<std::size_t>(i * 5 + j);
            EXPECT_EQ(values_of(walk, "weights", at)[cell], weights.at<double>({b, h, i, j}));
            EXPECT_EQ(values_of(walk, "scaled", at)[cell], scores.at<double>({b, h, i, j}));
            EXPECT_NEAR(values_of(walk, "scores", at)[cell], scores.at<double>({b, h, i, j}) * std::sqrt(5.0), 1e-14);
          }
          for (Index d = 0; d < 3; ++d) {
            EXPECT_EQ(values_of(walk, "output", at)[static_cast<std::size_t>(i * 3 + d)], out.at<double>({b, h, i, d}));
          }
        }
      }
    }
  }
}

TEST(ExplainAttention, MatricesOfSeveralHeadsSayWhichTheyAre) {
  const Explanation walk = explain_attention(random_problem(2, 2, 1, 1, 1));
  const ExplanationStep& step = walk.step("weights");
  ASSERT_EQ(step.matrices.size(), 4u);
  EXPECT_EQ(matrix_caption(step.matrices[1], Language::english), "weights, batch element 0, head 1");
  EXPECT_EQ(matrix_caption(step.matrices[2], Language::chinese), "weights，批次元素 1，头 0");
  EXPECT_EQ(walk.step("inputs").matrices.size(), 4u + 2u + 2u);
  EXPECT_NE(walk.step("inputs").meaning.find("2 query heads share"), std::string::npos);
}

TEST(ExplainAttention, AScaleReplacesTheSquareRoot) {
  AttentionInputs problem = two_by_two_inputs();
  problem.scale = 2;
  const Explanation walk = explain_attention(problem);
  EXPECT_EQ(values_of(walk, "scores"), (Values{1, 1, 1, 2}));
  EXPECT_EQ(values_of(walk, "scaled"), (Values{2, 2, 2, 4}));
  EXPECT_NE(walk.step("scaled").formula.find("scores * 2 "), std::string::npos);
}

TEST(ExplainAttention, AMaskAndACausalMaskIntersect) {
  AttentionInputs problem = random_problem(1, 1, 1, 3, 3);
  problem.causal = true;
  problem.allowed = Tensor::zeros(DType::boolean, {1, 1, 3, 3});
  fill(problem.allowed.view(), 1);
  problem.allowed.at<bool>({0, 0, 2, 1}) = false;
  const Values masked = values_of(explain_attention(problem), "masked");
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(masked[static_cast<std::size_t>(i * 3 + j)] == -kInfinity, j > i || (i == 2 && j == 1));
    }
  }
}

TEST(ExplainAttention, AQueryWithoutKeysGetsNothing) {
  AttentionInputs problem = two_by_two_inputs();
  problem.allowed = Tensor::zeros(DType::boolean, {1, 1, 2, 2});
  problem.allowed.at<bool>({0, 0, 1, 0}) = true;
  const Explanation walk = explain_attention(problem);
  EXPECT_EQ(values_of(walk, "weights"), (Values{0, 0, 1, 0}));
  EXPECT_EQ(values_of(walk, "output"), (Values{0, 0, 1, 2}));
  EXPECT_EQ(values_of(walk, "exponentials")[2], 0);
  EXPECT_NE(walk.step("weights").meaning.find("no key"), std::string::npos);
  EXPECT_NE(walk.step("weights").meaning.find("Every other row sums to 1"), std::string::npos);
  EXPECT_EQ(walk.step("weights").meaning.find("Each row sums to 1"), std::string::npos);
}

TEST(ExplainAttention, ExponentialsThatNobodyCanWriteAreLeftOut) {
  for (double scale : {1000.0, -1000.0, std::numeric_limits<double>::denorm_min()}) {
    AttentionInputs problem = two_by_two_inputs();
    problem.scale = scale;
    bool shown = false;
    const Explanation walk = explain_attention(problem);
    for (const ExplanationStep& step : walk.steps) shown |= step.name == "exponentials";
    EXPECT_EQ(shown, std::abs(scale) < 1) << scale;
    for (double weight : values_of(walk, "weights")) EXPECT_TRUE(std::isfinite(weight));
  }
}

TEST(ExplainAttention, NotANumberIsShownNotHidden) {
  AttentionInputs problem = two_by_two_inputs();
  problem.q = problem.q.clone();
  problem.q.at<double>({0, 0, 0, 0}) = std::numeric_limits<double>::quiet_NaN();
  const Explanation walk = explain_attention(problem);
  EXPECT_NE(to_text(walk, 3).find("nan"), std::string::npos);
  EXPECT_NE(walk.step("weights").meaning.find("NaN or infinite makes its row"), std::string::npos);
  EXPECT_EQ(walk.step("weights").meaning.find("Each row sums to 1"), std::string::npos);
  EXPECT_TRUE(to_json(walk)["steps"][1]["matrices"][0]["values"][0][0].is_null());
  EXPECT_NO_THROW(to_json(walk).dump());
}

TEST(ExplainAttention, HeadsOfOneMatrixAreJoined) {
  AttentionInputs problem = random_problem(1, 2, 2, 3, 3);
  problem.heads_of_one_matrix = true;
  const Explanation walk = explain_attention(problem);
  const Values joined = values_of(walk, "concatenation");
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t d = 0; d < 6; ++d) {
      EXPECT_EQ(joined[i * 6 + d], values_of(walk, "output", d / 3)[i * 3 + d % 3]);
    }
  }
}

AttentionInputs chosen(const char* attention) {
  AttentionInputs problem = two_by_two_inputs();
  problem.attention = AttentionChoice(attention);
  return problem;
}

TEST(ExplainAttention, AChosenScoreIsItsFormula) {
  const Values cosine = values_of(explain_attention(chosen("cosine(scale=4)")), "scores");
  expect_close(cosine, {0.5, 0.5, 0.5, 1}, 1e-14);
  expect_close(values_of(explain_attention(chosen("cosine(scale=4)")), "scaled"), {2, 2, 2, 4}, 1e-14);
  EXPECT_EQ(values_of(explain_attention(chosen("squared_distance")), "scores"), (Values{-2, -2, -2, 0}));
  AttentionInputs additive = chosen("additive");
  additive.additive_vector = Tensor::from(std::vector<double>{1, 2, 4}, {3});
  const Explanation walk = explain_attention(additive);
  const double one = std::tanh(1.0), two = std::tanh(2.0);
  expect_close(values_of(walk, "scores", 1),
               {two + 2 * one + 4 * one, one + 2 * one + 4 * two, one + 2 * two + 4 * one, 2 * two + 4 * two}, 1e-14);
  EXPECT_EQ(walk.step("scores").matrices[0].name, "v_a");
}

TEST(ExplainAttention, FeaturesMakeTheScores) {
  for (const char* map : {"elu", "relu"}) {
    const Explanation walk = explain_attention(chosen(map));
    const LabelledMatrix &q = walk.step("features").matrices[0], &k = walk.step("features").matrices[1];
    const LabelledMatrix &scores = walk.step("scores").matrices[0], &sums = walk.step("sums").matrices[0];
    for (Index i = 0; i < 2; ++i) {
      double sum = 0;
      for (Index j = 0; j < 2; ++j) {
        double dot = 0;
        for (Index d = 0; d < 3; ++d) dot += q.value(i, d) * k.value(j, d);
        EXPECT_NEAR(scores.value(i, j), dot, 1e-14) << map;
        sum += dot;
      }
      EXPECT_NEAR(sums.value(i, 0), sum, 1e-14) << map;
    }
  }
}

TEST(ExplainAttention, TheThresholdMakesTheWeights) {
  for (const char* normaliser : {"sparsemax", "entmax15"}) {
    const bool squared = normaliser[0] == 'e';
    const Explanation walk = explain_attention(chosen(normaliser));
    const LabelledMatrix& tau = walk.step("threshold").matrices[0];
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j < 2; ++j) {
        const double score = walk.step("masked").matrices[0].value(i, j);
        const double above = std::max((squared ? score / 2 : score) - tau.value(i, 0), 0.0);
        EXPECT_NEAR(walk.step("weights").matrices[0].value(i, j), squared ? above * above : above, 1e-12) << normaliser;
      }
    }
  }
}

TEST(ExplainAttention, CapAndBiasComeBeforeTheMask) {
  const Explanation walk = explain_attention(chosen("dot(scale=1) + soft_cap(2) + alibi + window(0)"));
  EXPECT_EQ(values_of(walk, "scaled"), (Values{1, 1, 1, 2}));
  const double low = 2 * std::tanh(0.5), high = 2 * std::tanh(1.0);
  expect_close(values_of(walk, "capped"), {low, low, low, high}, 1e-14);
  const double slope = std::pow(2.0, -8);  // of one head
  expect_close(values_of(walk, "biased"), {0, -slope, -slope, 0}, 0);
  expect_close(values_of(walk, "biased", 1), {low, low - slope, low - slope, high}, 1e-14);
  expect_close({values_of(walk, "masked")[0], values_of(walk, "masked")[3]}, {low, high}, 1e-14);
  EXPECT_EQ(values_of(walk, "masked")[1], -kInfinity);
  EXPECT_EQ(values_of(walk, "weights"), (Values{1, 0, 0, 1}));
}

TEST(ExplainAttention, WeightsOfASigmoidNeedNotSumToOne) {
  const Explanation walk = explain_attention(chosen("dot(scale=1) + sigmoid"));
  const double one = 1 / (1 + std::exp(-1.0)), two = 1 / (1 + std::exp(-2.0));
  expect_close(values_of(walk, "weights"), {one, one, one, two}, 1e-14);
  EXPECT_EQ(walk.step("weights").meaning.find("Each row sums to 1"), std::string::npos);
}

TEST(ExplainAttention, TermsWithoutNumbersAreRefused) {
  for (const char* term : {"rotary", "relative", "sinks", "additive"}) {
    const std::string message = testing::refusal([&] { explain_attention(chosen(term)); });
    EXPECT_NE(message.find(std::string("'") + term + "'"), std::string::npos) << message;
  }
}

TEST(ExplainAttention, LabelsNameRowsAndColumns) {
  AttentionInputs problem = two_by_two_inputs();
  problem.query_labels = {"I", "am\n"};
  problem.key_labels = {"你", std::string(100, 'x')};
  const Explanation walk = explain_attention(problem);
  const LabelledMatrix& weights = walk.step("weights").matrices[0];
  EXPECT_EQ(weights.row_labels, (std::vector<std::string>{"I", "am␊"})) << "nothing steers a terminal";
  EXPECT_EQ(weights.column_labels, (std::vector<std::string>{"你", std::string(24, 'x') + "…"}));
  problem.key_labels.pop_back();
  EXPECT_THROW(explain_attention(problem), Error);
  problem.key_labels.clear();
  EXPECT_EQ(explain_attention(problem).step("weights").matrices[0].column_labels,
            (std::vector<std::string>{"I", "am␊"}))
      << "the same words";
}

TEST(ExplainAttention, ProjectedRowsAreShownOnTheirWay) {
  const ProjectedRows rows{.x = Tensor::from(std::vector<double>{1, 0, 0, 1}, {2, 2}),
                           .w_q = Tensor::from(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4}),
                           .w_k = Tensor::from(std::vector<double>{1, 0, 0, 1, 0, 1, 1, 0}, {2, 4}),
                           .w_v = Tensor::from(std::vector<double>{1, 2, 3, 4}, {2, 2}),
                           .w_o = Tensor::from(std::vector<double>{1, 0, 1, 1}, {2, 2}),
                           .heads = 2,
                           .key_heads = 2};
  const ProjectedRows::Heads heads = rows.project();
  AttentionInputs problem{.q = heads.q, .k = heads.k, .v = heads.v};
  problem.rows = rows;
  const Explanation walk = explain_attention(problem);
  EXPECT_EQ(values_of(walk, "projections", 3), (Values{1, 2, 3, 4, 5, 6, 7, 8})) << "X is the identity";
  EXPECT_EQ(values_of(walk, "heads", 1), (Values{3, 4, 7, 8})) << "the second head's columns";
  const Values joined = values_of(walk, "concatenation");
  expect_close(values_of(walk, "projection", 1), {joined[0] + joined[1], joined[1], joined[2] + joined[3], joined[3]},
               1e-14);
}

TEST(ExplainAttention, RefusesWhatNobodyCouldFollow) {
  const AttentionInputs large = random_problem(1, 1, 1, 2000, 2000);
  EXPECT_THROW(explain_attention(large), Error);
  AttentionInputs empty = two_by_two_inputs();
  empty.q = Tensor::zeros(DType::f64, {1, 1, 0, 3});
  EXPECT_THROW(explain_attention(empty), Error);
  AttentionInputs single = two_by_two_inputs();
  single.q = single.q.to(DType::f32);
  EXPECT_THROW(explain_attention(single), Error);
}

}  // namespace
}  // namespace heed
