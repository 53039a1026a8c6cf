// The plan "decode-bf16": few queries of bf16 against many keys. The rows of all query heads that share a key/value
// head are lanes of one tile, so that a block is met once. Each row has the bits that the plan "fused-bf16" gives it,
// which does all else: matrices of weights, and gradients.
#include <algorithm>
#include <cmath>

#include "heed/base/thread_scratch.h"
#include "heed/kernels/attention_lanes.h"
#include "heed/ops/attention/plans/bf16_row_products.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/key_bits.h"
#include "heed/ops/attention/plans/lane_sums.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {
namespace {

using kernels::kLaneKeys;

// Rows of all heads of a group: row f is query f % Lq of the group's head f / Lq.
Index rows_of_group(const AttentionProblem& c) { return c.group * c.queries; }

Index most_lanes_of(const AttentionProblem& c) {
  return round_up(std::min(rows_of_group(c), kTileRows), kernels::kLaneUnit);
}

class DecodeLanes {
 public:
  DecodeLanes(const AttentionProblem& problem, const AttentionResult& wanted, ScratchCut scratch)
      : c(problem), result(wanted), products_(problem, most_lanes_of(problem), scratch) {
    const Index lanes = most_lanes_of(c);
    for (float** sums : {&tile_.top, &tile_.sum, &tile_.decay, &tile_.factor}) scratch.take(*sums, lanes);
    scratch.take(scores_, lanes * kLaneKeys);
    scratch.take(rows_, lanes * std::max(c.value_width, kLaneKeys));
    if (c.bias.active()) scratch.take(bias_, lanes * kLaneKeys);
    scratch.take(allowed_, lanes * (kLaneKeys / 32));
    used_ = scratch.used();
  }

  static Index bytes(const AttentionProblem& c) { return DecodeLanes(c, {}, ScratchCut(nullptr)).used_; }

  void compute(Index b, Index g, Range rows) {
    b_ = b, g_ = g, first_ = rows.begin, count_ = rows.size();
    tile_.lanes = round_up(count_, kernels::kLaneUnit), tile_.started = false;
    begin_sums(tile_);
    const Range open = read_queries();
    for (Index begin = open.begin / kLaneKeys * kLaneKeys; begin < open.end; begin += kLaneKeys) {
      add_block({begin, std::min(c.keys, begin + kLaneKeys)});
    }
    store();
  }

 private:
  struct Row {
    Index h, i;
  };
  Row row(Index n) const { return {g_ * c.group + (first_ + n) / c.queries, (first_ + n) % c.queries}; }

  // Returns the keys that some row may see.
  Range read_queries() {
    products_.begin(count_);
    Range open{c.keys, 0};
    for (Index n = 0; n < count_; ++n) {
      const Row of = row(n);
      products_.read_query(n, c.q.as<BFloat16>() + c.q.offset({b_, of.h, of.i}));
      const Range keys = c.mask.tile(b_, of.h, {of.i, of.i + 1}).hull;
      if (!keys.empty()) open = {std::min(open.begin, keys.begin), std::max(open.end, keys.end)};
    }
    return open;
  }

  void add_block(Range keys) {
    products_.read_block(b_, g_, keys);
    const kernels::LanePart whole{0, keys.size(), 0, tile_.lanes};
    products_.scores(tile_.lanes, scores_);
    kernels::AttentionLanes block{.keys = keys.size(), .lanes = tile_.lanes, .cap = static_cast<float>(c.cap)};
    block.allowed = allowed(keys);
    block.bias = bias(keys), block.bias_key = tile_.lanes;
    kernels::kSoftmaxLanes.add(block, whole, scores_, tile_.sums());
    if (result.out) products_.add_values(tile_.lanes, scores_, tile_.decay);
    tile_.started = true;
  }

  // Null where every row may see every key.
  const std::uint32_t* allowed(Range keys) {
    const std::uint64_t all = bits_within(keys, keys);
    bool refuses = false;
    for (Index n = 0; n < tile_.lanes; ++n) {
      const Row of = row(std::min(n, count_ - 1));
      const std::uint64_t bits = allowed_bits(c.mask, b_, of.h, of.i, keys);
      refuses |= bits != all;
      allowed_[n] = static_cast<std::uint32_t>(bits),
      allowed_[tile_.lanes + n] = static_cast<std::uint32_t>(bits >> 32);
    }
    return refuses ? allowed_ : nullptr;
  }

  // Null without a bias.
  const float* bias(Range keys) {
    if (!c.bias.active()) return nullptr;
    std::fill_n(rows_, count_ * kLaneKeys, 0.0f);
    for (Index n = 0; n < count_; ++n) c.bias.add(b_, row(n).h, row(n).i, keys, rows_ + n * kLaneKeys);
    kernels::rows_to_lanes(count_, keys.size(), rows_, kLaneKeys, bias_, tile_.lanes);
    return bias_;
  }

  void store() {
    kernels::softmax_lane_shares(tile_.lanes, kMinusInfinity, tile_.sums(), tile_.factor);
    for (Index n = 0; n < count_; ++n) {
      float* const row_of_out = rows_ + n * c.value_width;
      if (result.out && tile_.started) {
        const float* const sums = products_.out(n);
        for (Index d = 0; d < c.value_width; ++d) row_of_out[d] = sums[d] * tile_.factor[n];
      } else {
        std::fill_n(row_of_out, c.value_width, 0.0f);
      }
      const auto [h, i] = row(n);
      if (result.row_stat) {
        const bool dead = tile_.top[n] == kMinusInfinity && tile_.sum[n] == 0;
        result.row_stat.at<float>({b_, h, i}) = dead ? kMinusInfinity : tile_.top[n] + std::log(tile_.sum[n]);
      }
      if (!result.out) continue;
      store_rows({rows_ + n * c.value_width, c.value_width}, result.out, b_, h, {i, i + 1});
      repair_rows(c, result.out, {b_, h, {i, i + 1}});
    }
  }

  const AttentionProblem& c;
  const AttentionResult& result;
  Bf16RowProducts products_;
  LaneTile tile_{};
  float *scores_ = nullptr, *rows_ = nullptr, *bias_ = nullptr;
  std::uint32_t* allowed_ = nullptr;
  Index used_ = 0, b_ = 0, g_ = 0, first_ = 0, count_ = 0;
};

void decode_bf16_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  if (result.weights || result.scores) return kFusedBf16Plan.forward(c, result, workspace);
  const Index rows = rows_of_group(c), chunks = ceil_div(rows, kTileRows);
  const double work =
      static_cast<double>(std::min(rows, kTileRows) * c.keys) * static_cast<double>(c.width + c.value_width);
  const auto run = [&](Index begin, Index end, char* memory) {
    DecodeLanes thread(c, result, ScratchCut(memory));
    for (Index unit = begin; unit < end; ++unit) {
      const Index b = unit / chunks / c.key_heads, g = unit / chunks % c.key_heads, first = unit % chunks * kTileRows;
      thread.compute(b, g, {first, std::min(rows, first + kTileRows)});
    }
  };
  parallel_for_with_scratch(workspace, DecodeLanes::bytes(c), c.batch * c.key_heads * chunks,
                            grain_of(work, kDecodingChunkWork), run);
}

std::string_view decode_bf16_why_not(const AttentionProblem& c, const AttentionTask& task) {
  if (c.spec.normaliser.kind != Normaliser::Kind::softmax) return "the normaliser is no softmax";
  if (!c.spec.normaliser.sinks.is_empty()) return "heads have sinks of their own";
  if (c.dropout.active()) return "a dropout is drawn for each head";
  return kFusedBf16Plan.why_not(c, task);
}

// Lanes without a row work all the same, and rows are asked for one by one.
double decode_bf16_cost(const AttentionProblem& c) {
  const Index rows = rows_of_group(c), lanes = round_up(rows, kernels::kLaneUnit);
  return rows == 0 ? 0 : 1.1 * pair_cost(c) * (static_cast<double>(lanes) / static_cast<double>(rows));
}

}  // namespace

const AttentionPlan kDecodeBf16Plan{"decode-bf16",         SumOrder::bf16,      decode_bf16_why_not,
                                    decode_bf16_cost,      decode_bf16_forward, kFusedBf16Plan.backward,
                                    kFusedBf16Plan.weights};

}  // namespace heed
