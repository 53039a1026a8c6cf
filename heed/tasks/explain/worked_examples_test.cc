#include "heed/tasks/explain/worked_examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "heed/base/error.h"
#include "heed/tasks/explain/explanation_text.h"
#include "heed/tasks/explain/walk_matrices.h"

namespace heed {
namespace {

std::vector<std::string> names(const Explanation& walk) {
  std::vector<std::string> list;
  for (const ExplanationStep& step : walk.steps) list.push_back(step.name);
  return list;
}

// The numbers of The Illustrated Transformer's six steps, for its first word.
TEST(ThinkingMachines, TheSixStepsAreTheTutorials) {
  const Explanation walk = explain_thinking_machines();
  EXPECT_EQ(names(walk), (std::vector<std::string>{"projections", "scores", "scaled", "weights", "weighted", "output",
                                                   "heads", "concatenation", "projection"}));
  EXPECT_EQ(matrix(walk, "projections", "Q").columns(), 64);
  EXPECT_EQ(matrix(walk, "scores", "scores").values, (Values{112, 96, 96, 104}));
  EXPECT_EQ(matrix(walk, "scaled", "scaled").values, (Values{14, 12, 12, 13}));
  expect_close(matrix(walk, "weights", "weights").values, {0.88, 0.12, 0.27, 0.73}, 5e-3);
  const double first = 1 / (1 + std::exp(-2.0)), second = 1 / (1 + std::exp(1.0));
  expect_close(matrix(walk, "weights", "weights").values, {first, 1 - first, second, 1 - second}, 1e-14);
  EXPECT_EQ(walk.step("output").matrices[0].row_labels, (std::vector<std::string>{"Thinking", "Machines"}));
}

TEST(ThinkingMachines, RowsRepeatTheirFirstEightNumbers) {
  const Explanation walk = explain_thinking_machines();
  for (const char* name : {"Q", "K", "V"}) {
    const LabelledMatrix& m = matrix(walk, "projections", name);
    for (Index d = 8; d < 64; ++d) EXPECT_EQ(m.value(1, d), m.value(1, d - 8));
  }
  const LabelledMatrix &q = matrix(walk, "projections", "Q"), &k = matrix(walk, "projections", "K");
  double first_eight = 0;
  for (Index d = 0; d < 8; ++d) first_eight += q.value(0, d) * k.value(1, d);
  EXPECT_EQ(first_eight, 12) << "what a pencil finds, and the scaled score";
}

TEST(ThinkingMachines, TheOutputIsTheSumOfTheWeightedValues) {
  const Explanation walk = explain_thinking_machines();
  const LabelledMatrix &v = matrix(walk, "projections", "V"), &weights = matrix(walk, "weights", "weights");
  const LabelledMatrix& z = matrix(walk, "output", "Z");
  const std::string words[] = {"Thinking", "Machines"};
  for (Index i = 0; i < 2; ++i) {
    const LabelledMatrix& weighted = matrix(walk, "weighted", "weighted, " + words[i]);
    for (Index d = 0; d < 64; ++d) {
      for (Index j = 0; j < 2; ++j) EXPECT_EQ(weighted.value(j, d), weights.value(i, j) * v.value(j, d));
      EXPECT_NEAR(z.value(i, d), weighted.value(0, d) + weighted.value(1, d), 1e-14);
    }
  }
}

TEST(ThinkingMachines, HeadsAreConcatenatedAndProjected) {
  const Explanation walk = explain_thinking_machines();
  const LabelledMatrix &z = matrix(walk, "output", "Z"), &z_2 = matrix(walk, "heads", "Z_2");
  const LabelledMatrix& joined = matrix(walk, "concatenation", "concatenation");
  const LabelledMatrix &w_o = matrix(walk, "projection", "W_O"), &out = matrix(walk, "projection", "output");
  ASSERT_EQ(joined.columns(), 128);
  ASSERT_EQ(out.columns(), 4);
  for (Index r = 0; r < 2; ++r) {
    for (Index c = 0; c < 128; ++c) EXPECT_EQ(joined.value(r, c), c < 64 ? z.value(r, c) : z_2.value(r, c - 64));
    for (Index c = 0; c < 4; ++c) {
      double sum = 0;
      for (Index d = 0; d < 128; ++d) sum += joined.value(r, d) * w_o.value(d, c);
      EXPECT_NEAR(out.value(r, c), sum, 1e-12);
    }
  }
}

TEST(ThinkingMachines, TheHeadsLookWhereTheTextSays) {
  const Explanation walk = explain_thinking_machines();
  const LabelledMatrix& first = matrix(walk, "weights", "weights");
  EXPECT_GT(first.value(0, 0), 0.5);
  EXPECT_GT(first.value(1, 1), 0.5);
  const LabelledMatrix& second = matrix(walk, "heads", "weights_2");
  EXPECT_GT(second.value(0, 1), 0.5);
  EXPECT_GT(second.value(1, 0), 0.5);
}

TEST(Bahdanau, EveryStepFollowsFromTheOneBefore) {
  const Explanation walk = explain_bahdanau();
  EXPECT_EQ(matrix(walk, "projected", "W_a s").values, (Values{1, 0.5, 0.5}));
  EXPECT_EQ(matrix(walk, "projected", "U_a h").values, (Values{1, 0, 0, 0, 1, 1, -1, 1, 1}));
  const LabelledMatrix &sum = matrix(walk, "tanh", "sum"), &tanh = matrix(walk, "tanh", "tanh");
  EXPECT_EQ(sum.values, (Values{2, 0.5, 0.5, 1, 1.5, 1.5, 0, 1.5, 1.5}));
  const LabelledMatrix &v = matrix(walk, "states", "v_a"), &h = matrix(walk, "states", "h");
  const LabelledMatrix &energies = matrix(walk, "energies", "e"), &alpha = matrix(walk, "weights", "alpha");
  double total = 0, context[2] = {0, 0};
  for (Index j = 0; j < 3; ++j) {
    double energy = 0;
    for (Index a = 0; a < 3; ++a) {
      EXPECT_NEAR(tanh.value(j, a), std::tanh(sum.value(j, a)), 1e-15);
      energy += v.value(0, a) * tanh.value(j, a);
    }
    EXPECT_NEAR(energies.value(0, j), energy, 1e-14);
    total += std::exp(energy);
  }
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(alpha.value(0, j), std::exp(energies.value(0, j)) / total, 1e-14);
    for (Index d = 0; d < 2; ++d) context[d] += alpha.value(0, j) * h.value(j, d);
  }
  expect_close(matrix(walk, "context", "c").values, {context[0], context[1]}, 1e-14);
}

TEST(Luong, TheThreeScoresAreThePapers) {
  const Explanation walk = explain_luong();
  EXPECT_EQ(matrix(walk, "dot", "dot").values, (Values{1, 0.5, -0.5}));
  EXPECT_EQ(matrix(walk, "general", "general").values, (Values{1, 2, 1}));
  EXPECT_EQ(matrix(walk, "concat", "concat").values, matrix(explain_bahdanau(), "energies", "e").values);
}

TEST(Luong, TheAttentionalVectorIsTanhOfContextAndState) {
  const Explanation walk = explain_luong();
  const LabelledMatrix &c = matrix(walk, "contexts", "contexts"), &h = matrix(walk, "states", "h_t");
  const LabelledMatrix &weights = matrix(walk, "weights", "weights"), &h_s = matrix(walk, "states", "h_s");
  const LabelledMatrix& seen = matrix(walk, "attentional", "attentional");
  for (Index row = 0; row < 3; ++row) {
    for (Index d = 0; d < 2; ++d) {
      double context = 0;
      for (Index s = 0; s < 3; ++s) context += weights.value(row, s) * h_s.value(s, d);
      EXPECT_NEAR(c.value(row, d), context, 1e-14);
      EXPECT_NEAR(seen.value(row, d), std::tanh(c.value(row, d) + 0.5 * h.value(0, d)), 1e-14);
    }
  }
  EXPECT_EQ(seen.row_labels, (std::vector<std::string>{"dot", "general", "concat"}));
}

TEST(PositionWalk, TheTableIsTheFormula) {
  const Explanation walk = explain_positions(6, 4);
  const LabelledMatrix& table = matrix(walk, "table", "PE");
  for (Index p = 0; p < 6; ++p) {
    const double t = static_cast<double>(p);
    const double row[] = {std::sin(t), std::cos(t), std::sin(t / 100), std::cos(t / 100)};
    for (Index d = 0; d < 4; ++d) EXPECT_NEAR(table.value(p, d), row[d], 1e-7);
  }
  const LabelledMatrix& picture = walk.step("picture").matrices[0];
  const Index order[] = {0, 2, 1, 3};
  for (Index p = 0; p < 6; ++p) {
    for (Index d = 0; d < 4; ++d) EXPECT_EQ(picture.value(p, d), table.value(p, order[d]));
  }
}

TEST(PositionWalk, FrequenciesFallFromOneToTheTenThousandth) {
  const LabelledMatrix frequencies = explain_positions(3, 8).step("frequencies").matrices[0];
  ASSERT_EQ(frequencies.rows(), 4);
  for (Index i = 0; i < 4; ++i) {
    const double rate = std::pow(10.0, static_cast<double>(-i));
    EXPECT_NEAR(frequencies.value(i, 0) / rate, 1, 1e-14);
    EXPECT_NEAR(frequencies.value(i, 1) * rate, 2 * std::numbers::pi, 1e-13);
  }
  EXPECT_NE(to_text(explain_positions(3, 8), 3).find("6283.185"), std::string::npos);
  EXPECT_EQ(explain_positions(3, 5).step("frequencies").matrices[0].row_labels.back(), "d4");
}

TEST(PositionWalk, ProductsDependOnTheDistanceAlone) {
  const LabelledMatrix products = explain_positions(7, 6).step("products").matrices[0];
  for (Index p = 0; p < 7; ++p) {
    for (Index q = 0; q < 7; ++q) EXPECT_NEAR(products.value(p, q), products.value(0, std::abs(p - q)), 1e-6);
  }
}

TEST(PositionWalk, RefusesSizesThatAreNone) {
  EXPECT_THROW(explain_positions(0, 8), Error);
  EXPECT_THROW(explain_positions(8, 0), Error);
  EXPECT_THROW(explain_positions(1025, 8), Error);
}

}  // namespace
}  // namespace heed
