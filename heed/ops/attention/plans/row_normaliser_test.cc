#include "heed/ops/attention/plans/row_normaliser.h"

#include <gtest/gtest.h>

#include <numeric>

namespace heed {
namespace {

using Kind = Normaliser::Kind;
using Row = std::vector<double>;

Row weights_of(Kind kind, const Row& scores, double sink = RowNormaliser<double>::kNone) {
  Row weights(scores.size());
  RowNormaliser<double>(kind).normalise(scores, sink, weights);
  return weights;
}

TEST(RowNormaliser, WeightsSumToOneHoweverLargeTheScores) {
  for (Kind kind : {Kind::softmax, Kind::sparsemax, Kind::entmax15})
    for (double size : {0.0, 1.0, 1e8, 1e17, 3e38, 1e300})
      for (double sign : {1.0, -1.0}) {
        const Row same = weights_of(kind, Row(4, sign * size));
        for (double weight : same) EXPECT_EQ(weight, 0.25) << static_cast<int>(kind) << " " << size;
        const Row weights = weights_of(kind, {sign * size, sign * size - 0.5, sign * size - 1.5});
        EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-12);
      }
}

TEST(RowNormaliser, GivesTheValuesOfThePapers) {
  // sparsemax of (1, 0.5, -1): tau = 0.25 over two keys.
  EXPECT_EQ(weights_of(Kind::sparsemax, {1, 0.5, -1}), (Row{0.75, 0.25, 0}));
  // entmax 1.5 of (2, 0): (x_1 - tau)^2 + (x_2 - tau)^2 = 1 with x = (1, 0): tau = 0.
  const Row entmax = weights_of(Kind::entmax15, {2, 0, -3});
  EXPECT_NEAR(entmax[0], 1, 1e-12);
  EXPECT_NEAR(entmax[1], 0, 1e-12);
  const Row sigmoid = weights_of(Kind::sigmoid, {0, 1000, -1000});
  EXPECT_EQ(sigmoid, (Row{0.5, 1, 0}));
  EXPECT_EQ(weights_of(Kind::sum, {1, 3}), (Row{0.25, 0.75}));
  EXPECT_EQ(weights_of(Kind::sum, {1, -1}), (Row{0, 0}));                         // a sum of zero
  EXPECT_NEAR(weights_of(Kind::softmax, {0, 0}, std::log(2.0))[0], 0.25, 1e-15);  // half goes to the sink
}

TEST(RowNormaliser, OfInfiniteAndMissingScores) {
  const double none = RowNormaliser<double>::kNone, infinity = -none;
  for (Kind kind : {Kind::softmax, Kind::sigmoid, Kind::sparsemax, Kind::entmax15, Kind::sum}) {
    EXPECT_EQ(weights_of(kind, {none, none}), (Row{0, 0}));
    EXPECT_EQ(weights_of(kind, {none, 2})[0], 0);
    if (kind == Kind::sigmoid) continue;
    for (double spoilt : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
      const Row weights = weights_of(kind, {spoilt, 1, none});
      EXPECT_TRUE(std::isnan(weights[0])) << static_cast<int>(kind);
      EXPECT_EQ(weights[2], 0);
    }
  }
}

}  // namespace
}  // namespace heed
