#include "heed/kernels/attention_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/lane_row.h"
#include "heed/kernels/target.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::random_floats;

constexpr float kNone = -std::numeric_limits<float>::infinity();

struct AttentionLanesTest : ::testing::TestWithParam<std::int64_t> {
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(0); }
};

// Rows' sums over blocks, before the first.
struct Sums {
  std::vector<float> top, sum, decay;
  explicit Sums(std::size_t lanes) : top(lanes, kNone), sum(lanes, 0.0f), decay(lanes, 0.0f) {}
  LaneSums view() { return {top.data(), sum.data(), decay.data()}; }
};

// Blocks of scores of `lanes` rows with all that a block may have.
struct Blocks {
  Index lanes;
  std::vector<Index> keys;
  std::vector<std::vector<float>> scores, bias;
  std::vector<std::vector<std::uint32_t>> allowed, kept;

  Blocks(Index rows, std::vector<Index> of_keys) : lanes(rows), keys(std::move(of_keys)) {
    Rng rng(7);
    for (std::size_t n = 0; n < keys.size(); ++n) {
      scores.push_back(random_floats(keys[n] * lanes, 10 + n, 3)),
          bias.push_back(random_floats(keys[n] * lanes, 20 + n, 3));
      allowed.emplace_back(), kept.emplace_back();
      for (Index i = 0; i < lanes * kLaneKeys / 32; ++i) {
        allowed.back().push_back(static_cast<std::uint32_t>(rng.next()) | static_cast<std::uint32_t>(rng.next()));
        kept.back().push_back(static_cast<std::uint32_t>(rng.next()));
      }
    }
  }
  AttentionLanes block(std::size_t n) const {
    return {.keys = keys[n],
            .lanes = lanes,
            .cap = 5,
            .bias = bias[n].data(),
            .bias_key = lanes,
            .allowed = allowed[n].data(),
            .kept = kept[n].data(),
            .keep_scale = 1.25f};
  }
  std::uint64_t bits(const std::vector<std::uint32_t>& words, Index row, Index count) const {
    const std::uint64_t all =
        words[static_cast<std::size_t>(row)] | (std::uint64_t{words[static_cast<std::size_t>(lanes + row)]} << 32);
    return count == 64 ? all : all & ((std::uint64_t{1} << count) - 1);
  }
};

std::array<LanePart, 1> whole(const AttentionLanes& block) { return {block.whole()}; }

// A number of bf16 out of pairs of keys, [key / 2, lane].
float half_of(const void* pairs, Index lanes, Index key, Index lane) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(pairs) + 4 * (key / 2 * lanes + lane) + 2 * (key % 2), 2);
  return to_float(std::bit_cast<BFloat16>(bits));
}

TEST_P(AttentionLanesTest, ARowAloneHasTheBitsThatItHasInLanes) {
  struct Kind {
    RowWeights weights;
    bool pairs;
  };
  for (const auto [weights, pairs] : {Kind{RowWeights::softmax, false}, Kind{RowWeights::softmax_for_bf16, true},
                                      Kind{RowWeights::sigmoid, false}, Kind{RowWeights::sigmoid, true}}) {
    const bool sigmoid = weights == RowWeights::sigmoid;
    SCOPED_TRACE(std::string(sigmoid ? "sigmoid" : "softmax") + (pairs ? ", bf16" : ", f32"));
    const LaneNormaliser& lanes = sigmoid ? kSigmoidLanes : kSoftmaxLanes;
    Blocks blocks(32, {64, 64, 13});
    for (std::size_t i = 0; i < blocks.bias[1].size(); i += 3)
      blocks.bias[1][i] += 20;  // every top moves by more than 8
    Sums sums(32);
    std::vector<RowSums> rows(32, RowSums{kNone, 0, 0});
    for (std::size_t n = 0; n < blocks.keys.size(); ++n) {
      std::vector<float> tile = blocks.scores[n];
      tile.resize(kLaneKeys * 32);
      if (pairs) {
        lanes.add_pairs(blocks.block(n), tile.data(), sums.view());
      } else {
        lanes.add(blocks.block(n), whole(blocks.block(n)), tile.data(), sums.view());
      }
      for (Index r = 0; r < 32; ++r) {
        const std::size_t at = static_cast<std::size_t>(r);
        float row[kLaneKeys] = {}, bias[kLaneKeys] = {};
        for (Index j = 0; j < blocks.keys[n]; ++j) {
          row[j] = blocks.scores[n][static_cast<std::size_t>(j * 32 + r)];
          bias[j] = blocks.bias[n][static_cast<std::size_t>(j * 32 + r)];
        }
        weigh_row({.keys = blocks.keys[n],
                   .cap = 5,
                   .bias = bias,
                   .allowed = blocks.bits(blocks.allowed[n], r, blocks.keys[n]),
                   .drops = true,
                   .kept = blocks.bits(blocks.kept[n], r, blocks.keys[n]),
                   .keep_scale = 1.25f,
                   .weights = weights},
                  row, rows[at]);
        for (Index j = 0; j < blocks.keys[n]; ++j) {
          const float alone = pairs ? to_float(to_bfloat16(row[j])) : row[j];
          const float beside = pairs ? half_of(tile.data(), 32, j, r) : tile[static_cast<std::size_t>(j * 32 + r)];
          ASSERT_EQ(alone, beside) << "block " << n << " row " << r << " key " << j;
        }
        ASSERT_EQ(rows[at].top, sums.top[at]) << r;
        ASSERT_EQ(rows[at].sum, sums.sum[at]) << r;
        ASSERT_EQ(rows[at].decay, sums.decay[at]) << r;
      }
    }
    if (sigmoid) continue;
    float share[32];
    softmax_lane_shares(32, 0.5f, sums.view(), share);
    for (std::size_t r = 0; r < 32; ++r) {
      softmax_row_sink(0.5f, rows[r]);
      EXPECT_EQ(rows[r].sum, sums.sum[r]) << r;
      EXPECT_EQ(rows[r].decay / rows[r].sum, share[r]) << r;
    }
  }
}

TEST_P(AttentionLanesTest, ASinkGivesARowWithoutAKeyNoShare) {
  for (const float sink : {kNone, 0.5f}) {
    Sums sums(16);
    sums.top[1] = 2, sums.sum[1] = 4;
    float share[16];
    softmax_lane_shares(16, sink, sums.view(), share);
    EXPECT_EQ(share[0], 0.0f);
    EXPECT_EQ(sums.top[0], kNone);
    EXPECT_EQ(sums.sum[0], 0.0f);
    EXPECT_NEAR(share[1], 1 / (4 + (sink == kNone ? 0 : std::exp(sink - 2))), 1e-7);
  }
}

TEST_P(AttentionLanesTest, SumsAreThoseOfTheDefinition) {
  const Blocks blocks(16, {64, 20});
  Sums sums(16);
  std::vector<double> exact(16, 0.0);
  for (std::size_t n = 0; n < blocks.keys.size(); ++n) {
    std::vector<float> tile = blocks.scores[n];
    kSoftmaxLanes.add(blocks.block(n), whole(blocks.block(n)), tile.data(), sums.view());
    for (Index r = 0; r < 16; ++r)
      for (Index j = 0; j < blocks.keys[n]; ++j) {
        const std::size_t at = static_cast<std::size_t>(j * 16 + r);
        if (!(blocks.bits(blocks.allowed[n], r, 64) >> j & 1)) continue;
        exact[static_cast<std::size_t>(r)] +=
            std::exp(5 * std::tanh(double{blocks.scores[n][at]} / 5) + blocks.bias[n][at]);
      }
  }
  for (std::size_t r = 0; r < 16; ++r) {
    EXPECT_NEAR(sums.top[r] + std::log(sums.sum[r]), std::log(exact[r]), 2e-6) << r;
  }
}

TEST_P(AttentionLanesTest, ABlockThatIsRefusedMovesNoBit) {
  const Blocks blocks(16, {64});
  Sums sums(16);
  std::vector<float> tile = blocks.scores[0];
  kSoftmaxLanes.add(blocks.block(0), whole(blocks.block(0)), tile.data(), sums.view());
  const Sums before = sums;
  const std::vector<std::uint32_t> none(32, 0u);
  AttentionLanes refused{.keys = 64, .lanes = 16, .allowed = none.data()};
  tile.assign(tile.size(), std::numeric_limits<float>::quiet_NaN());
  kSoftmaxLanes.add(refused, whole(refused), tile.data(), sums.view());
  EXPECT_EQ(sums.top, before.top);
  EXPECT_EQ(sums.sum, before.sum);
  EXPECT_EQ(sums.decay, std::vector<float>(16, 1.0f));
  EXPECT_EQ(tile, std::vector<float>(tile.size(), 0.0f));
}

TEST_P(AttentionLanesTest, PartsTogetherHaveTheBitsThatEachHasAlone) {
  const Blocks blocks(64, {61});
  const AttentionLanes block = blocks.block(0);
  const std::array<LanePart, 3> parts{{{0, 20, 0, 16}, {16, 61, 16, 48}, {4, 8, 48, 64}}};
  Sums together(64), alone(64);
  std::vector<float> tile = blocks.scores[0], tile_alone = tile;
  kSoftmaxLanes.add(block, parts, tile.data(), together.view());
  for (const LanePart& part : parts) kSoftmaxLanes.add(block, {&part, 1}, tile_alone.data(), alone.view());
  EXPECT_EQ(tile, tile_alone);
  EXPECT_EQ(together.top, alone.top);
  EXPECT_EQ(together.sum, alone.sum);
  EXPECT_EQ(together.decay, alone.decay);
}

// Softmax has weights that are rounded as powers of two, of arguments up to 20 that are rounded otherwise: what it
// rounds is within 3e-6 of the others'.
TEST_P(AttentionLanesTest, FactorsOfBf16AreWhatTheOthersHaveRounded) {
  for (const LaneNormaliser* normaliser : {&kSoftmaxLanes, &kSigmoidLanes})
    for (const Index lanes : {16, 32, 48, 64})
      for (const Index keys : {64, 61, 18, 1})
        for (const float scale : {0.5f, -0.5f})
          for (const bool alone : {true, false}) {
            const float apart = normaliser == &kSoftmaxLanes ? 3e-6f : 0;
            const auto is_near = [&](const std::vector<float>& x, const std::vector<float>& of) {
              return std::ranges::equal(x, of,
                                        [&](float a, float b) { return std::abs(a - b) <= apart * std::abs(b); });
            };
            // Of a number that is within that of x.
            const auto is_rounded = [&](float value, float x) {
              const float bounds[] = {to_float(to_bfloat16(x * (1 - apart))), to_float(to_bfloat16(x * (1 + apart)))};
              return std::min(bounds[0], bounds[1]) <= value && value <= std::max(bounds[0], bounds[1]);
            };
            SCOPED_TRACE(std::to_string(lanes) + " lanes, " + std::to_string(keys) + " keys, scale " +
                         std::to_string(scale));
            const Blocks blocks(lanes, {keys});
            AttentionLanes block = alone ? AttentionLanes{.keys = keys, .lanes = lanes} : blocks.block(0);
            const std::vector<float>& products = blocks.scores[0];
            std::vector<float> scores = products;
            for (float& score : scores) score *= scale;
            std::vector<float> weights = scores, pairs(static_cast<std::size_t>(kLaneKeys * lanes));
            std::copy(products.begin(), products.end(), pairs.begin());
            Sums sums(static_cast<std::size_t>(lanes)), of_pairs = sums;
            normaliser->add(block, whole(block), weights.data(), sums.view());
            block.scale = scale;
            normaliser->add_pairs(block, pairs.data(), of_pairs.view());
            EXPECT_EQ(sums.top, of_pairs.top);
            EXPECT_TRUE(is_near(of_pairs.sum, sums.sum));
            EXPECT_TRUE(is_near(of_pairs.decay, sums.decay));
            const auto at = [&](Index key, Index lane) { return static_cast<std::size_t>(key * lanes + lane); };
            for (Index key = 0; key < round_up(keys, 32); ++key)
              for (Index lane = 0; lane < lanes; ++lane) {
                const float wanted = key < keys ? weights[at(key, lane)] : 0;
                ASSERT_TRUE(is_rounded(half_of(pairs.data(), lanes, key, lane), wanted))
                    << "weight " << key << ", " << lane;
              }

            const std::vector<float> stat = random_floats(lanes, 3, 1), delta = random_floats(lanes, 4, 1);
            std::vector<float> tile = scores, dscores = random_floats(keys * lanes, 5, 1);
            const std::vector<float> dweights = dscores;
            std::vector<float> dbias(dscores.size()), dbias_too = dbias;
            block.scale = 1;
            normaliser->gradients(block, block.whole(), stat.data(), delta.data(), 0.3f, tile.data(), dscores.data(),
                                  dbias.data());
            block.scale = scale;
            const Index row = round_up(lanes, 32);
            std::vector<BFloat16> weight_rows(static_cast<std::size_t>(kLaneKeys * row)), dscore_rows = weight_rows;
            std::vector<std::uint32_t> dscore_pairs(static_cast<std::size_t>(kLaneKeys / 2 * lanes));
            normaliser->gradient_factors(block, stat.data(), delta.data(), 0.3f, products.data(), dweights.data(),
                                         dbias_too.data(),
                                         {weight_rows.data(), dscore_rows.data(), row, dscore_pairs.data()});
            EXPECT_TRUE(is_near(dbias_too, dbias));
            for (Index key = 0; key < round_up(keys, 32); ++key)
              for (Index lane = 0; lane < row; ++lane) {
                const bool is_there = key < keys && lane < lanes;
                const float weight = is_there ? tile[at(key, lane)] : 0, dscore = is_there ? dscores[at(key, lane)] : 0;
                const auto n = static_cast<std::size_t>(key * row + lane);
                ASSERT_TRUE(is_rounded(to_float(weight_rows[n]), weight)) << "weight " << key << ", " << lane;
                ASSERT_TRUE(is_rounded(to_float(dscore_rows[n]), dscore)) << "gradient " << key << ", " << lane;
                if (lane < lanes) {
                  ASSERT_EQ(half_of(dscore_pairs.data(), lanes, key, lane), to_float(dscore_rows[n]))
                      << key << ", " << lane;
                }
              }
          }
}

INSTANTIATE_TEST_SUITE_P(Targets, AttentionLanesTest, ::testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return std::string(simd_target_name(target.param)); });

}  // namespace
}  // namespace heed::kernels
