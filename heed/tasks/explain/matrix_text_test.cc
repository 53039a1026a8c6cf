#include "heed/tasks/explain/matrix_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/testing/not_finite.h"

namespace heed {
namespace {

using testing::kInfinity;

using Lines = std::vector<std::string>;

LabelledMatrix labelled(Index rows, Index columns, std::vector<double> values) {
  return {"x", numbered_labels("r", rows), numbered_labels("c", columns), std::move(values)};
}

TEST(MatrixText, ColumnsStandInStep) {
  EXPECT_EQ(matrix_lines(labelled(2, 2, {0.5, -10.25, 1, 2}), {.digits = 2}),
            (Lines{"x [2, 2]", "        c1      c2", "r1    0.50  -10.25", "r2    1.00    2.00"}));
}

TEST(MatrixText, WholeNumbersHaveNoDecimals) {
  EXPECT_EQ(matrix_lines(labelled(2, 2, {1, 1, 1, 2})), (Lines{"x [2, 2]", "    c1  c2", "r1   1   1", "r2   1   2"}));
}

TEST(MatrixText, RoundsToTheDigitsAskedFor) {
  EXPECT_EQ(matrix_lines(labelled(1, 1, {0.57735}), {.digits = 3}).back(), "r1  0.577");
  EXPECT_EQ(matrix_lines(labelled(1, 1, {0.57735}), {.digits = 0}).back(), "r1   1");
}

TEST(MatrixText, NothingIsMinusZero) {
  EXPECT_EQ(matrix_lines(labelled(1, 3, {-0.0001, -0.0, 0.5})).back(), "r1  0.000  0.000  0.500");
  EXPECT_EQ(matrix_lines(labelled(1, 1, {-0.0})).back(), "r1   0");
  EXPECT_EQ(matrix_lines(labelled(1, 1, {-0.001})).back(), "r1  -0.001");
}

TEST(MatrixText, WritesWhatIsNoFiniteNumber) {
  const std::vector<double> values{-kInfinity, kInfinity, std::numeric_limits<double>::quiet_NaN(), 1};
  EXPECT_EQ(matrix_lines(labelled(1, 4, values)).back(), "r1  -inf   inf   nan     1");
}

TEST(MatrixText, LargeNumbersHaveAnExponent) {
  EXPECT_EQ(matrix_lines(labelled(1, 2, {1e300, 2})).back(), "r1  1.000e+300   2.000e+00");
}

TEST(MatrixText, LargeMatricesAreCutInTheMiddle) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i);
  const Lines lines = matrix_lines(labelled(10, 10, values), {.most_rows = 3, .most_width = 19});
  EXPECT_EQ(lines, (Lines{"x [10, 10]", "      c1  ...  c10", "r1     0  ...    9", "r2    10  ...   19",
                          "...  ...  ...  ...", "r10   90  ...   99"}));
}

TEST(MatrixText, NumbersKeepToTheWidthAskedFor) {
  for (Index columns : {1, 4, 5, 30}) {
    std::vector<double> values(static_cast<std::size_t>(columns), 0.5);
    for (const std::string& line : matrix_lines(labelled(1, columns, values), {.most_width = 30})) {
      EXPECT_LE(line.size(), 30u);
    }
    EXPECT_EQ(matrix_lines(labelled(1, columns, values), {.most_width = 30}).back().find("...") == std::string::npos,
              columns <= 4);
  }
}

TEST(MatrixText, OfManyRowsTheFirstAndTheLastAreWritten) {
  const Lines all = matrix_lines(labelled(32, 1, std::vector<double>(32, 1)));
  EXPECT_EQ(all.size(), 2u + 32u);
  const Lines lines = matrix_lines(labelled(33, 1, std::vector<double>(33, 1)));
  ASSERT_EQ(lines.size(), 2u + static_cast<std::size_t>(kRowsOfCut) + 1u);
  EXPECT_TRUE(lines[7].starts_with("r6 ")) << lines[7];
  EXPECT_TRUE(lines[8].starts_with("...")) << lines[8];
  EXPECT_TRUE(lines[9].starts_with("r28")) << lines[9];
}

TEST(MatrixText, WideLabelsKeepColumnsInStep) {
  const LabelledMatrix words{"x", {"我", "在这里"}, {"我", "在这里"}, {0.5, 0.5, 0.25, 10}};
  EXPECT_EQ(matrix_lines(words, {.digits = 2}),
            (Lines{"x [2, 2]", "            我  在这里", "我        0.50    0.50", "在这里    0.25   10.00"}));
}

TEST(MatrixText, ACaptionSaysWhichHeadItIs) {
  LabelledMatrix one = labelled(1, 1, {1});
  one.head = 2;
  EXPECT_EQ(matrix_lines(one).front(), "x, head 2 [1, 1]");
  EXPECT_EQ(matrix_lines(one, {.language = Language::chinese}).front(), "x，头 2 [1, 1]");
}

TEST(MatrixText, APatternIsMarksAndDots) {
  LabelledMatrix pattern = labelled(2, 2, {1, 0, 1, 1});
  pattern.shown = LabelledMatrix::Shown::pattern;
  EXPECT_EQ(matrix_lines(pattern), (Lines{"x [2, 2]", "r1  # .", "r2  # #"}));
}

TEST(MatrixText, ShadesRunFromLightToDark) {
  LabelledMatrix shaded = labelled(2, 2, {-1, 0, 0.5, 1});
  shaded.shown = LabelledMatrix::Shown::shades;
  EXPECT_EQ(matrix_lines(shaded), (Lines{"x [2, 2]", "r1 |  ++|", "r2 |##@@|"}));
}

TEST(MatrixText, ShadesOfOneValueAndOfNone) {
  LabelledMatrix shaded = labelled(1, 2, {3, 3});
  shaded.shown = LabelledMatrix::Shown::shades;
  EXPECT_EQ(matrix_lines(shaded).back(), "r1 |    |");
  shaded.values = {kInfinity, -kInfinity};
  EXPECT_EQ(matrix_lines(shaded).back(), "r1 |????|");
}

}  // namespace
}  // namespace heed
