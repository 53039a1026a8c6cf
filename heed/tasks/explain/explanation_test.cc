#include "heed/tasks/explain/explanation.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "heed/tasks/explain/attention_walk.h"
#include "heed/tasks/explain/explanation_picture.h"
#include "heed/tasks/explain/explanation_text.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

std::vector<Explanation> all_walks() {
  AttentionInputs causal = two_by_two_inputs();
  causal.causal = true;
  return {explain_attention(two_by_two_inputs()),
          explain_attention(causal),
          explain_thinking_machines(),
          explain_bahdanau(),
          explain_luong(),
          explain_positions(10, 8),
          explain_positions(1, 1)};
}

TEST(Explanation, EveryStepHasWordsAndMatrices) {
  for (const Explanation& walk : all_walks()) {
    for (const ExplanationStep& step : walk.steps) {
      SCOPED_TRACE(walk.title + ": " + step.name);
      EXPECT_FALSE(step.name.empty() || step.title.empty() || step.formula.empty() || step.meaning.empty());
      EXPECT_FALSE(step.matrices.empty());
      EXPECT_EQ(&walk.step(step.name), &step) << "names are unique";
      for (const LabelledMatrix& matrix : step.matrices) {
        EXPECT_EQ(static_cast<Index>(matrix.values.size()), matrix.rows() * matrix.columns()) << matrix.name;
      }
    }
  }
}

TEST(Explanation, RowsOfWeightsSumToOne) {
  for (const Explanation& walk : all_walks()) {
    for (const ExplanationStep& step : walk.steps) {
      if (step.name != "weights") continue;
      for (const LabelledMatrix& matrix : step.matrices) {
        for (Index r = 0; r < matrix.rows(); ++r) {
          double sum = 0;
          for (Index c = 0; c < matrix.columns(); ++c) sum += matrix.value(r, c);
          EXPECT_NEAR(sum, 1, 1e-14) << walk.title;
        }
      }
    }
  }
}

TEST(Explanation, JsonHoldsEveryNumberUnrounded) {
  for (const Explanation& walk : all_walks()) {
    const Json json = Json::parse(to_json(walk).dump(2), walk.title);
    ASSERT_EQ(json["steps"].size(), static_cast<Index>(walk.steps.size()));
    for (std::size_t s = 0; s < walk.steps.size(); ++s) {
      const ExplanationStep& step = walk.steps[s];
      const Json step_json = json["steps"][static_cast<Index>(s)];
      EXPECT_EQ(step_json["name"].string(), step.name);
      EXPECT_EQ(step_json["formula"].string(), step.formula);
      ASSERT_EQ(step_json["matrices"].size(), static_cast<Index>(step.matrices.size()));
      for (std::size_t m = 0; m < step.matrices.size(); ++m) {
        const LabelledMatrix& matrix = step.matrices[m];
        const Json matrix_json = step_json["matrices"][static_cast<Index>(m)];
        EXPECT_EQ(matrix_json["rows"].string_list(), matrix.row_labels);
        EXPECT_EQ(matrix_json["columns"].string_list(), matrix.column_labels);
        for (Index r = 0; r < matrix.rows(); ++r) {
          for (Index c = 0; c < matrix.columns(); ++c) {
            const Json value = matrix_json["values"][r][c];
            if (value.is_null()) {
              EXPECT_EQ(matrix.value(r, c), -std::numeric_limits<double>::infinity());
            } else {
              EXPECT_EQ(value.number(), matrix.value(r, c));
            }
          }
        }
      }
    }
  }
}

TEST(Explanation, TextIsAsciiInLinesThatFitAPage) {
  for (const Explanation& walk : all_walks()) {
    const std::string text = to_text(walk, 3);
    ASSERT_EQ(text.back(), '\n');
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = text.substr(begin, end - begin);
      EXPECT_LE(line.size(), 100u) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    for (char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
  }
}

TEST(Explanation, TextShowsEveryStepInOrder) {
  for (const Explanation& walk : all_walks()) {
    const std::string text = to_text(walk, 3);
    std::size_t at = 0;
    for (std::size_t s = 0; s < walk.steps.size(); ++s) {
      const std::string heading = "\n" + std::to_string(s + 1) + ". " + walk.steps[s].name + ": ";
      at = text.find(heading, at);
      ASSERT_NE(at, std::string::npos) << heading;
    }
  }
}

TEST(Explanation, EveryWalkHasAPicture) {
  for (const Explanation& walk : all_walks()) {
    const std::string svg = render(draw_explanation(walk), PictureFormat::svg);
    EXPECT_NE(svg.find("<svg"), std::string::npos);
  }
  EXPECT_THROW(draw_explanation({}), Error);
}

TEST(Explanation, APictureOfWeightsShowsThem) {
  const std::string svg = render(draw_explanation(explain_attention(two_by_two_inputs())), PictureFormat::svg);
  for (const char* number : {"0.500", "0.360", "0.640"}) EXPECT_NE(svg.find(number), std::string::npos) << number;
}

TEST(Explanation, AnUnknownStepIsAnError) { EXPECT_THROW(explain_bahdanau().step("scaled"), Error); }

TEST(LabelMatrix, TakesVectorsStridesAndFloats) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const ConstView wide = make_view(values, {2, 3});
  EXPECT_EQ(label_matrix("t", transpose(wide, 0, 1), numbered_labels("r", 3), numbered_labels("c", 2)).values,
            (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(label_matrix("v", select(wide, 1, 2), {"v"}, {"a", "b"}).values, (std::vector<double>{3, 6}));
}

TEST(LabelMatrix, RefusesLabelsThatDoNotFit) {
  const double values[] = {1, 2};
  EXPECT_THROW(label_matrix("x", make_view(values, {1, 2}), {"a"}, {"b"}), Error);
  EXPECT_THROW(label_matrix("x", make_view(values, {1, 1, 2}), {"a"}, {"b", "c"}), Error);
  const std::int32_t whole[] = {1};
  EXPECT_THROW(label_matrix("x", make_view(whole, {1, 1}), {"a"}, {"b"}), Error);
}

}  // namespace
}  // namespace heed
