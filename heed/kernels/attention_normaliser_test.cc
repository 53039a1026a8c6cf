// Every normaliser, on every target, against its definition in double: weights, statistic and gradient.
#include "heed/kernels/attention_normaliser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "heed/kernels/target.h"
#include "heed/testing/not_finite.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::kInfinity;
using testing::kNaN;
using testing::random_floats;

using Row = std::vector<double>;

// Where a falling function is 1.
double threshold(double low, double high, const std::function<double(double)>& sum) {
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    (sum(middle) > 1 ? low : high) = middle;
  }
  return low;
}

// The statistic of a row of scores that are there, and a weight from it.
struct Definition {
  const char* name;
  const AttentionNormaliser* kernels;
  double (*stat)(const Row& scores);
  double (*weight)(double score, double stat);
};

double softmax_weight(double score, double stat) { return std::exp(score - stat); }
double sigmoid_weight(double score, double) { return 1 / (1 + std::exp(-score)); }
double sparsemax_weight(double score, double stat) { return std::max(score - stat, 0.0); }
double entmax15_weight(double score, double stat) { return std::pow(std::max(score / 2 - stat, 0.0), 2); }

double sum_of_weights(const Row& scores, double stat, double (*weight)(double, double)) {
  double sum = 0;
  for (double score : scores) sum += weight(score, stat);
  return sum;
}
double largest(const Row& scores) { return *std::max_element(scores.begin(), scores.end()); }

const Definition kDefinitions[] = {{"Softmax", &kSoftmax,
                                    [](const Row& scores) {
                                      double sum = 0;
                                      for (double score : scores) sum += std::exp(score - largest(scores));
                                      return largest(scores) + std::log(sum);
                                    },
                                    softmax_weight},
                                   {"Sigmoid", &kSigmoid, [](const Row&) { return 0.0; }, sigmoid_weight},
                                   {"Sparsemax", &kSparsemax,
                                    [](const Row& scores) {
                                      return threshold(largest(scores) - 1, largest(scores), [&](double stat) {
                                        return sum_of_weights(scores, stat, sparsemax_weight);
                                      });
                                    },
                                    sparsemax_weight},
                                   {"Entmax15", &kEntmax15,
                                    [](const Row& scores) {
                                      return threshold(largest(scores) / 2 - 1, largest(scores) / 2, [&](double stat) {
                                        return sum_of_weights(scores, stat, entmax15_weight);
                                      });
                                    },
                                    entmax15_weight}};

// Rows with every feature, and the numbers that they point at.
struct Features {
  Index columns, rows = 3, stride = 0;
  std::vector<float> bias;
  std::vector<Index> begin, end;
  std::vector<std::uint8_t> allowed;
  std::vector<std::uint16_t> bits;
  AttentionRows passes;

  explicit Features(Index width) : columns(width) {
    stride = round_up(columns, kAttentionLanes) + kAttentionLanes;
    bias = random_floats(rows * stride, 3);
    begin = {0, columns / 3, columns / 2};
    end = {columns, columns - columns / 4, columns / 2};  // the last row is dead
    for (Index i = 0; i < rows * columns; ++i) allowed.push_back(i % 5 != 0);
    passes.rows = rows, passes.columns = columns, passes.stride = stride;
    passes.scale = 0.5f, passes.cap = 3.0f;
    passes.bias = bias.data();
    passes.begin = begin.data(), passes.end = end.data();
    passes.allowed = allowed.data(), passes.allowed_row = columns;
  }
  void drop_some() {
    for (Index i = 0; i < rows * stride; ++i) bits.push_back(static_cast<std::uint16_t>(i * 9973));
    passes.bits = bits.data(), passes.threshold = 16384, passes.keep_scale = 4.0f / 3;
  }
  std::vector<float> random_tile(std::uint64_t seed) const {
    std::vector<float> tile(static_cast<std::size_t>(rows * stride), kNaN);  // what is beside the columns is rubbish
    const std::vector<float> values = random_floats(rows * columns, seed, 4);
    for (Index r = 0; r < rows; ++r) std::copy_n(&values[r * columns], columns, &tile[r * stride]);
    return tile;
  }
  double capped(double product) const { return 3.0 * std::tanh(0.5 * product / 3.0); }
  double score(Index at, double product) const { return capped(product) + bias[at]; }
  bool open(Index r, Index c) const { return c >= begin[r] && c < end[r] && allowed[r * columns + c] != 0; }
  // The row's open columns, in order.
  std::vector<Index> open_columns(Index r) const {
    std::vector<Index> list;
    for (Index c = 0; c < columns; ++c) {
      if (open(r, c)) list.push_back(c);
    }
    return list;
  }
};

struct AttentionNormalisers : ::testing::TestWithParam<std::tuple<std::int64_t, Definition>> {
  void SetUp() override { force_simd_target(std::get<0>(GetParam())); }
  void TearDown() override { force_simd_target(0); }
  const Definition& definition() const { return std::get<1>(GetParam()); }
  const AttentionNormaliser& kernels() const { return *definition().kernels; }
};

constexpr Index kRowWidths[] = {1, 2, 7, 14, 16, 17, 33, 100, 700};

TEST_P(AttentionNormalisers, WeighTheAllowedColumnsByTheDefinition) {
  for (Index columns : kRowWidths) {
    const Features f(columns);
    const std::vector<float> products = f.random_tile(1);
    std::vector<float> tile = products, stat(3);
    kernels().weights(f.passes, tile.data(), stat.data());
    for (Index r = 0; r < f.rows; ++r) {
      Row scores;
      for (Index c : f.open_columns(r)) scores.push_back(f.score(r * f.stride + c, products[r * f.stride + c]));
      const double expected_stat = scores.empty() ? -kInfinity : definition().stat(scores);
      for (Index c = 0; c < columns; ++c) {
        const Index at = r * f.stride + c;
        const double expected = f.open(r, c) ? definition().weight(f.score(at, products[at]), expected_stat) : 0;
        EXPECT_NEAR(tile[at], expected, 2e-6) << columns << " " << r << " " << c;
      }
      for (Index c = columns; c < f.stride - kAttentionLanes; ++c) EXPECT_EQ(tile[r * f.stride + c], 0);
      if (scores.empty()) {
        EXPECT_EQ(stat[r], -kInfinity);
      } else {
        EXPECT_NEAR(stat[r], expected_stat, 4e-6);
      }
    }
  }
}

TEST_P(AttentionNormalisers, ARowDoesNotDependOnRefusedColumnsBehindIt) {
  const Features narrow(14);
  std::vector<float> short_tile = narrow.random_tile(1), short_stat(3);
  Features wide(80);
  std::vector<float> long_tile = wide.random_tile(2), long_stat(3);
  for (Index r = 0; r < 3; ++r) {
    std::copy_n(&short_tile[r * narrow.stride], 14, &long_tile[r * wide.stride]);
    std::copy_n(&narrow.bias[r * narrow.stride], 14, &wide.bias[r * wide.stride]);
    std::copy_n(&narrow.allowed[r * 14], 14, &wide.allowed[r * 80]);
  }
  wide.begin = narrow.begin, wide.end = narrow.end;
  wide.passes.begin = wide.begin.data(), wide.passes.end = wide.end.data();
  kernels().weights(narrow.passes, short_tile.data(), short_stat.data());
  kernels().weights(wide.passes, long_tile.data(), long_stat.data());
  for (Index r = 0; r < 3; ++r) {
    EXPECT_EQ(short_stat[r], long_stat[r]);
    for (Index c = 0; c < 14; ++c) EXPECT_EQ(short_tile[r * narrow.stride + c], long_tile[r * wide.stride + c]);
  }
}

TEST_P(AttentionNormalisers, WeightsOfOneSumToOneHoweverLargeTheScores) {
  if (definition().kernels == &kSigmoid) GTEST_SKIP() << "its weights have no sum of their own";
  for (Index columns : {1, 3, 64, 1000})
    for (float size : {0.0f, 1.0f, 1e4f, 1e30f, -1e30f}) {
      const Index stride = (columns + 15) / 16 * 16 + 16;
      std::vector<float> same(static_cast<std::size_t>(stride), size), stat(1);
      const std::vector<Index> begin{0}, end{columns};
      AttentionRows passes;
      passes.rows = 1, passes.columns = columns, passes.stride = stride;
      passes.begin = begin.data(), passes.end = end.data();
      kernels().weights(passes, same.data(), stat.data());
      for (Index c = 0; c < columns; ++c) {
        EXPECT_NEAR(same[c] * static_cast<double>(columns), 1, 1e-5) << columns << " " << size;
      }
      // A larger one far above the others has all the weight.
      std::fill_n(same.begin(), columns, size);
      same[columns / 2] = size + std::max(100.0f, std::abs(size) / 2);
      kernels().weights(passes, same.data(), stat.data());
      for (Index c = 0; c < columns; ++c) EXPECT_EQ(same[c], c == columns / 2 ? 1 : 0);
    }
}

TEST_P(AttentionNormalisers, ANaNMakesEveryAllowedWeightNaN) {
  const bool alone = definition().kernels == &kSigmoid;  // each of whose weights is its own affair
  for (float spoilt : {kNaN, kInfinity})
    for (Index at : {0, 5, 18}) {
      const Index columns = 20, stride = 48;
      std::vector<float> tile(stride, -300.0f), stat(1);
      const std::vector<Index> begin{0}, end{19};
      AttentionRows passes;
      passes.rows = 1, passes.columns = columns, passes.stride = stride;
      passes.begin = begin.data(), passes.end = end.data();
      tile[3] = 300;
      tile[at] = spoilt;
      kernels().weights(passes, tile.data(), stat.data());
      EXPECT_TRUE(alone ? stat[0] == 0 : std::isnan(stat[0]));
      for (Index c = 0; c < 19; ++c) {
        const bool nan = alone ? c == at && std::isnan(spoilt) : true;
        EXPECT_EQ(std::isnan(tile[c]), nan) << spoilt << " " << at << " " << c;
      }
      EXPECT_EQ(tile[19], 0);
    }
}

// Against finite differences of the definition: of the sum of weight c times a number that dropout lets through, and of
// the statistic times another.
TEST_P(AttentionNormalisers, BackwardIsTheGradientOfTheDefinitionUnderCapAndDropout) {
  for (Index columns : {1, 7, 16, 17, 33, 100}) {
    Features f(columns);
    f.drop_some();
    const std::vector<float> products = f.random_tile(1), flows = f.random_tile(2);
    std::vector<float> tile = products, stat(3), weights = products, dweights = flows;
    kernels().weights(f.passes, weights.data(), stat.data());
    const float dstat[] = {0.3f, -0.2f, 0.1f};
    std::vector<RowPool> pool(3);
    if (kernels().pool != nullptr) {
      kernels().pool(f.passes, stat.data(), tile.data(), dweights.data(), pool.data());
      for (Index i = 0; i < f.rows * f.stride; ++i) {  // which leaves all as it was, also what is beside the columns
        EXPECT_TRUE(tile[i] == products[i] || std::isnan(products[i]));
      }
    }
    std::vector<float> delta;
    for (std::size_t r = 0; r < 3; ++r) delta.push_back(kernels().delta(pool[r], dstat[r]));
    std::vector<float> dbias(static_cast<std::size_t>(f.rows * f.stride), 1.0f);
    kernels().gradients(f.passes, stat.data(), delta.data(), tile.data(), dweights.data(), dbias.data());
    for (Index r = 0; r < f.rows; ++r) {
      const std::vector<Index> open = f.open_columns(r);
      const auto keep = [&](Index c) { return f.bits[r * f.stride + c] >= 16384 ? 4.0 / 3 : 0; };
      Row scores;
      for (Index c : open) scores.push_back(f.score(r * f.stride + c, products[r * f.stride + c]));
      const auto loss = [&] {
        const double whole = definition().stat(scores);
        double sum = definition().kernels == &kSigmoid ? 0 : whole * dstat[r];
        for (std::size_t n = 0; n < open.size(); ++n) {
          sum += definition().weight(scores[n], whole) * keep(open[n]) * flows[r * f.stride + open[n]];
        }
        return sum;
      };
      Row gradient(static_cast<std::size_t>(columns), 0);
      constexpr double kStep = 1e-6;
      for (std::size_t n = 0; n < open.size(); ++n) {
        const double score = scores[n];
        scores[n] = score + kStep;
        const double above = loss();
        scores[n] = score - kStep;
        gradient[static_cast<std::size_t>(open[n])] = (above - loss()) / (2 * kStep);
        scores[n] = score;
      }
      for (Index c = 0; c < columns; ++c) {
        const Index at = r * f.stride + c;
        const double bent = f.capped(products[at]) / 3.0, expected = gradient[static_cast<std::size_t>(c)];
        EXPECT_NEAR(tile[at], weights[at] * keep(c), 3e-6);
        EXPECT_NEAR(dbias[at], expected, 2e-5) << columns << " " << r << " " << c;
        EXPECT_NEAR(dweights[at], expected * (1 - bent * bent) * 0.5, 2e-5);
      }
    }
  }
}

TEST(AttentionSoftmax, ASinkTakesItsShare) {
  std::vector<float> tile(32, 0.0f), stat(1);
  const std::vector<Index> begin{0}, end{3};
  AttentionRows passes;
  passes.rows = 1, passes.columns = 3, passes.stride = 32;
  passes.begin = begin.data(), passes.end = end.data(), passes.sink = 0;
  kSoftmax.weights(passes, tile.data(), stat.data());
  for (Index c = 0; c < 3; ++c) EXPECT_FLOAT_EQ(tile[c], 0.25f);
  EXPECT_FLOAT_EQ(stat[0], std::log(4.0f));
}

INSTANTIATE_TEST_SUITE_P(Targets, AttentionNormalisers,
                         ::testing::Combine(::testing::ValuesIn(simd_targets()), ::testing::ValuesIn(kDefinitions)),
                         [](const auto& test) {
                           return std::string(simd_target_name(std::get<0>(test.param))) + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace heed::kernels
