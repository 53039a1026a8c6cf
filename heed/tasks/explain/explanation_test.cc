#include "heed/tasks/explain/explanation.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "heed/tasks/explain/attention_walk.h"
#include "heed/tasks/explain/explanation_picture.h"
#include "heed/tasks/explain/explanation_text.h"
#include "heed/tasks/explain/worked_examples.h"
#include "heed/unicode/text_width.h"

namespace heed {
namespace {

AttentionInputs attended_by(const char* attention) {
  AttentionInputs problem = two_by_two_inputs();
  problem.attention = AttentionChoice(attention);
  problem.additive_vector = Tensor::from(std::vector<double>{1, -1, 0.5}, {3});
  return problem;
}

AttentionInputs projected() {
  const ProjectedRows rows{.x = two_by_two_inputs().q.reshape({2, 3}),
                           .memory = two_by_two_inputs().k.reshape({2, 3}),
                           .w_q = Tensor::from(std::vector<double>{1, 0, 0, 1, 1, 1}, {3, 2}),
                           .w_k = Tensor::from(std::vector<double>{0, 1, 1}, {3, 1}),
                           .w_v = Tensor::from(std::vector<double>{1, 2, 3}, {3, 1}),
                           .w_o = Tensor::from(std::vector<double>{1, 2, 3, 4}, {2, 2}),
                           .heads = 2,
                           .key_heads = 1};
  const ProjectedRows::Heads heads = rows.project();
  AttentionInputs problem{.q = heads.q, .k = heads.k, .v = heads.v};
  problem.rows = rows;
  return problem;
}

std::vector<Explanation> all_walks(Language language = Language::english) {
  AttentionInputs causal = two_by_two_inputs();
  causal.causal = true;
  AttentionInputs given = two_by_two_inputs();
  given.allowed = Tensor::zeros(DType::boolean, {1, 1, 2, 2});
  given.allowed.at<bool>({0, 0, 0, 0}) = given.allowed.at<bool>({0, 0, 1, 0}) = true;
  AttentionInputs scaled = two_by_two_inputs();
  scaled.scale = 2;
  std::vector<Explanation> walks{
      explain_thinking_machines(language), explain_bahdanau(language),        explain_luong(language),
      explain_positions(10, 8, language),  explain_positions(1, 1, language), explain_masks(language),
      explain_grouped_queries(language),   explain_flash_attention(language), explain_windows(language)};
  for (const AttentionInputs& problem : {two_by_two_inputs(), causal, given, scaled, projected()}) {
    walks.push_back(explain_attention(problem, language));
  }
  for (const char* attention : {"cosine + alibi + sparsemax", "additive + entmax15", "squared_distance + sigmoid",
                                "elu", "relu + window(0)", "performer", "dot + soft_cap(5)"}) {
    walks.push_back(explain_attention(attended_by(attention), language));
  }
  return walks;
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
      if (step.name != "weights" || step.formula.find("1 / (1 + e^") != std::string::npos)
        continue;  // sigmoid's do not
      for (const LabelledMatrix& matrix : step.matrices) {
        for (Index r = 0; r < matrix.rows(); ++r) {
          double sum = 0;
          for (Index c = 0; c < matrix.columns(); ++c) sum += matrix.value(r, c);
          EXPECT_NEAR(sum, 1, 1e-12) << walk.title;
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
        EXPECT_EQ(matrix_json["name"].string(), matrix.name);
        EXPECT_EQ(matrix_json.has("head"), matrix.head.has_value());
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

TEST(Explanation, TextIsInLinesThatFitAPage) {
  for (const Language language : {Language::english, Language::chinese}) {
    for (const Explanation& walk : all_walks(language)) {
      const std::string text = to_text(walk, 3);
      ASSERT_EQ(text.back(), '\n');
      std::size_t begin = 0;
      for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const std::string line = text.substr(begin, end - begin);
        EXPECT_LE(text_columns(line), 100) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
      }
      if (language == Language::chinese) continue;
      for (char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
    }
  }
}

// Everything but titles, introduction and meanings: what programs read.
std::string figures(Json walk) {
  walk.set("language", nullptr);
  walk.set("title", nullptr);
  walk.set("introduction", nullptr);
  Json steps = Json::array();
  for (Json step : walk["steps"].items()) {
    step.set("title", nullptr);
    step.set("meaning", nullptr);
    steps.append(step);
  }
  walk.set("steps", steps);
  return walk.dump();
}

TEST(Explanation, BothLanguagesHaveTheSameStepsAndFigures) {
  const std::vector<Explanation> english = all_walks(), chinese = all_walks(Language::chinese);
  ASSERT_EQ(english.size(), chinese.size());
  for (std::size_t i = 0; i < english.size(); ++i) {
    EXPECT_EQ(figures(to_json(english[i])), figures(to_json(chinese[i])));
    EXPECT_NE(english[i].title, chinese[i].title);
    for (std::size_t s = 0; s < english[i].steps.size(); ++s) {
      const ExplanationStep &one = english[i].steps[s], &other = chinese[i].steps[s];
      EXPECT_NE(one.title, other.title) << one.name;
      EXPECT_NE(one.meaning, other.meaning) << one.name;
    }
  }
}

TEST(Explanation, TextShowsEveryStepInOrder) {
  for (const Explanation& walk : all_walks()) {
    ASSERT_EQ(walk.language, Language::english);
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
