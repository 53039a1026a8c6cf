// Few queries against many keys: the rows of all query heads that share a key/value head meet a block of its keys
// together, which are lanes where queries would leave most lanes empty. What multiplies is the plan's affair:
//
//   class Products {
//     static constexpr Index kMostRows, kLeastRows;  // that meet a block together: kLeastRows where threads want more
//     static constexpr bool kNarrowWeights;                          // whether it rounds weights to bf16
//     Products(const AttentionProblem& c, Index rows, ScratchCut& scratch);  // for at most so many rows
//     void begin(Index count);                                       // so many rows come, each to be read
//     void read_query(Index row, Index b, Index h, Index i);
//     // scores[row * kLaneKeys + key] = scale * (k . q), of keys that begin a block. What is read is asked for early:
//     // all keys of a turn, then its values, then the next turn's, up to `end`, closed blocks among them.
//     void scores(Index b, Index g, Range keys, Range turn, Index end, float* scores);
//     // Turns to the values of a block; while its weights are computed, a little of what comes after is asked for.
//     void turn_to_values(Index b, Index g, Range keys, Range turn, Index end);
//     void ask_ahead();
//     // out[row] = out[row] decays[row] + weights V, of weights that lie as the scores do.
//     void add_values(const float* weights, const float* decays);
//     const float* out(Index row) const;                             // [Dv], what was added up; zeros at first
//   };
#pragma once

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/base/thread_scratch.h"
#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/attention_rows.h"
#include "heed/kernels/lane_row.h"
#include "heed/ops/attention/plans/chosen_rows.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/plans/scratch_cut.h"
#include "heed/ops/attention/problem/attention_problem.h"
#include "heed/ops/attention/spec/key_bits.h"
#include "heed/ops/attention/spec/results.h"

namespace heed {

template <class Products>
class DecodeRows {
 public:
  DecodeRows(const AttentionProblem& problem, const AttentionResult& wanted, ScratchCut scratch)
      : c(problem), result(wanted), products_(problem, most_rows(problem), scratch) {
    scratch.take(rows_, most_rows(c));
    scratch.take(scores_, std::max(kTurnScores, score_block(most_rows(c))));
    scratch.take(decays_, most_rows(c));
    scratch.take(blocks_, std::max<Index>(1, kTurnScores / score_block(1)));
    scratch.take(out_, c.value_width);
    if (c.bias.active()) scratch.take(bias_, kLaneKeys);
    used_ = scratch.used();
  }

  static Index bytes(const AttentionProblem& c) { return DecodeRows(c, {}, ScratchCut(nullptr)).used_; }

  // Row f is query f % Lq of the group's head f / Lq.
  void compute(Index b, Index g, Range rows) {
    const Range hull = turn_to(b, g, rows.size(), [&](Index n) {
      const Index row = rows.begin + n;
      return Row{g * c.group + row / c.queries, row % c.queries, {}, {kMinusInfinity, 0, 0}};
    });
    const Index keys = turn_blocks() * kLaneKeys;
    for (Index begin = hull.begin / kLaneKeys * kLaneKeys; begin < hull.end; begin += keys) {
      add_turn({begin, std::min({c.keys, round_up(hull.end, kLaneKeys), begin + keys})}, hull.end);
    }
    for (Index n = 0; n < count_; ++n) store(rows_[n], products_.out(n));
  }

  // The weights of rows of one head, kMostRows at most, before dropout, from their statistic: to [rows, Lk].
  void store_weights(const RowTile& of, const ConstView& row_stat, const View& to) {
    const Range hull = turn_to(of.b, of.h / c.group, of.rows.size(), [&](Index n) {
      const Index i = of.rows.begin + n;
      return Row{of.h, i, {}, {row_stat.at<float>({of.b, of.h, i}), 0, 0}};
    });
    fill(to, 0);
    for (Index begin = hull.begin / kLaneKeys * kLaneKeys; begin < hull.end; begin += kLaneKeys) {
      const Range keys{begin, std::min(c.keys, begin + kLaneKeys)};
      if (!is_open(keys)) continue;
      products_.scores(b_, g_, keys, {begin, hull.end}, hull.end, scores_);
      for (Index n = 0; n < count_; ++n) {
        Row row = rows_[n];  // no score is above the statistic but by a rounding
        weigh(row, keys, scores_ + n * kLaneKeys, false);
        store_row(scores_ + n * kLaneKeys, keys.size(), to, to.offset({n, begin}));
      }
    }
  }

 private:
  static constexpr Index kLaneKeys = kernels::kLaneKeys;
  static constexpr Index kTurnScores = 16384, kTurnBlockBytes = 16384;  // both as measured

  struct Row {
    Index h, i;
    MaskTile open;
    kernels::RowSums sums;
  };

  static Index most_rows(const AttentionProblem& c) { return std::min(c.group * c.queries, Products::kMostRows); }

  // Turns to some rows, and says from which key to which some of them see.
  template <typename F>
  Range turn_to(Index b, Index g, Index count, const F& row_of) {
    b_ = b, g_ = g, count_ = count;
    products_.begin(count);
    Range hull{c.keys, 0};
    for (Index n = 0; n < count; ++n) {
      Row& row = rows_[n] = row_of(n);
      row.open = c.mask.tile(b, row.h, {row.i, row.i + 1});
      const Range open = row.open.hull;
      if (!open.empty()) hull = {std::min(hull.begin, open.begin), std::max(hull.end, open.end)};
      products_.read_query(n, b, row.h, row.i);
    }
    return hull;
  }

  static Index score_block(Index rows) { return std::max(rows, kernels::kFewRows) * kLaneKeys; }
  // So many blocks of keys are read before their values: memory that is read on in one place comes faster. Small blocks
  // gain nothing by it.
  Index turn_blocks() const {
    const bool small = kLaneKeys * c.width * size_of(c.k.view().dtype) < kTurnBlockBytes;
    return small ? 1 : std::max<Index>(1, kTurnScores / score_block(count_));
  }

  // Whether some row may see some key of a block.
  bool is_open(Range keys) const {
    if (c.mask.hull_is_exact()) return true;
    return std::any_of(rows_, rows_ + count_,
                       [&](const Row& row) { return c.mask.cover(row.open, keys) != TileCover::none; });
  }

  void add_turn(Range turn, Index end) {
    Index open = 0;
    for (Index begin = turn.begin; begin < turn.end; begin += kLaneKeys) {
      const Range keys{begin, std::min(turn.end, begin + kLaneKeys)};
      if (is_open(keys)) blocks_[open++] = keys;
    }
    const auto each_block = [&](const auto& f) {
      for (Index n = 0; n < open; ++n) f(blocks_[n], scores_ + n * score_block(count_));
    };
    each_block([&](Range keys, float* scores) { products_.scores(b_, g_, keys, turn, end, scores); });
    each_block([&](Range keys, float* scores) {
      if (result.out) products_.turn_to_values(b_, g_, keys, turn, end);
      for (Index n = 0; n < count_; ++n) {
        if (result.out) products_.ask_ahead();
        weigh(rows_[n], keys, scores + n * kLaneKeys, c.dropout.active());
        decays_[n] = rows_[n].sums.decay;
      }
      if (result.out) products_.add_values(scores, decays_);
    });
  }

  void weigh(Row& row, Range keys, float* scores, bool drops) {
    kernels::LaneRow block{.keys = keys.size(), .cap = static_cast<float>(c.cap), .weights = weights()};
    const bool open = c.mask.hull_is_exact() && intersect(row.open.core, keys) == keys;
    if (!open) {
      block.allowed = bits_within(c.mask.keys(b_, row.h, row.i), keys);
      c.mask.refuse_within_hulls(b_, row.h, {row.i, row.i + 1}, keys, &block.allowed);
    }
    if (c.bias.active()) {
      std::fill_n(bias_, kLaneKeys, 0.0f);
      c.bias.add(b_, row.h, row.i, keys, bias_);
      block.bias = bias_;
    }
    if (drops) {
      std::uint16_t drawn[kLaneKeys];
      kernels::attention_dropout_bits(c.dropout.seed(), c.dropout.head_stream(b_, row.h), row.i, 1, keys.begin,
                                      keys.size(), drawn, kLaneKeys);
      block.drops = true, block.keep_scale = static_cast<float>(c.dropout.scale());
      for (Index n = 0; n < keys.size(); ++n) {
        block.kept |= std::uint64_t{drawn[n] >= c.dropout.threshold()} << n;
      }
    }
    kernels::weigh_row(block, scores, row.sums);
  }

  bool is_softmax() const { return c.spec.normaliser.kind == Normaliser::Kind::softmax; }
  kernels::RowWeights weights() const {
    if (!is_softmax()) return kernels::RowWeights::sigmoid;
    return Products::kNarrowWeights ? kernels::RowWeights::softmax_for_bf16 : kernels::RowWeights::softmax;
  }

  void store(Row& row, const float* out) {
    const bool dead = row.sums.top == kMinusInfinity && row.sums.sum == 0;
    const float sink = c.sink<float>(row.h);
    row.sums.decay = 1;
    if (sink != kMinusInfinity) kernels::softmax_row_sink(sink, row.sums);
    if (result.row_stat) {
      const float stat = is_softmax() ? kernels::softmax_row_statistic(row.sums) : 0.0f;
      result.row_stat.at<float>({b_, row.h, row.i}) = dead ? kMinusInfinity : stat;
    }
    if (!result.out) return;
    const float share = dead ? 0.0f : row.sums.decay / row.sums.sum, factor = is_softmax() ? share : 1.0f;
    for (Index d = 0; d < c.value_width; ++d) out_[d] = out[d] * factor;
    store_row(out_, c.value_width, result.out, result.out.offset({b_, row.h, row.i}));
    repair_rows(c, result.out, {b_, row.h, {row.i, row.i + 1}});
  }

  const AttentionProblem& c;
  const AttentionResult& result;
  Products products_;
  Row* rows_ = nullptr;
  Range* blocks_ = nullptr;  // of a turn, of which some row may see some
  float *scores_ = nullptr, *decays_ = nullptr, *out_ = nullptr, *bias_ = nullptr;
  Index used_ = 0, b_ = 0, g_ = 0, count_ = 0;
};

// The work of some rows that meet all keys together, as grain_of() counts it.
inline Index decoding_grain(const AttentionProblem& c, Index rows, Index width) {
  return grain_of(static_cast<double>(rows * c.keys) * static_cast<double>(width), kDecodingChunkWork);
}

template <class Products>
void decode_rows(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  const Index rows = c.group * c.queries, heads = c.batch * c.key_heads;
  const auto units = [&](Index most) { return heads * ceil_div(rows, most); };
  const auto grain = [&](Index most) { return decoding_grain(c, std::min(rows, most), c.width + c.value_width); };
  Index most = Products::kMostRows;
  while (most > Products::kLeastRows && loop_threads(units(most / 2), grain(most / 2)) > units(most)) most /= 2;
  const Index chunks = ceil_div(rows, most);
  parallel_for_with_scratch(
      workspace, DecodeRows<Products>::bytes(c), units(most), grain(most), [&](Index begin, Index end, char* memory) {
        DecodeRows<Products> thread(c, result, ScratchCut(memory));
        for (Index unit = begin; unit < end; ++unit) {
          const Index b = unit / chunks / c.key_heads, g = unit / chunks % c.key_heads, first = unit % chunks * most;
          thread.compute(b, g, {first, std::min(rows, first + most)});
        }
      });
}

template <class Products>
void decode_weights(const AttentionProblem& c, const ConstView& row_stat, const AttentionSelection& chosen,
                    const View& weights, Workspace& workspace) {
  const ChosenRows rows(chosen, weights, std::min(c.group * c.queries, Products::kLeastRows));
  const AttentionResult nothing_else{};
  parallel_for_with_scratch(workspace, DecodeRows<Products>::bytes(c), rows.units(),
                            decoding_grain(c, Products::kLeastRows, c.width),
                            [&](Index begin, Index end, char* memory) {
                              DecodeRows<Products> thread(c, nothing_else, ScratchCut(memory));
                              for (Index unit = begin; unit < end; ++unit) {
                                thread.store_weights(rows.rows(unit), row_stat, rows.to(unit));
                              }
                            });
}

}  // namespace heed
