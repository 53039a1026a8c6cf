// The plan "decode": few queries against many keys, as a step of decoding has them. The keys go into SIMD lanes, and a
// block is read once for all query heads that share it. Each row has the bits that the plan "fused" gives it, which
// does all else: matrices of weights, and gradients.
#include <algorithm>
#include <cmath>

#include "heed/base/thread_scratch.h"
#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/attention_rows.h"
#include "heed/kernels/stored_rows.h"
#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/key_bits.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/plans/scratch_cut.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {
namespace {

using kernels::kFewRows;  // that meet a block of keys together
using kernels::kLaneKeys;

constexpr Index kAskedByRow = 4;  // keys of the next block, while a row of this one is weighed

struct DecodeScratch {
  float *q, *scores, *bias, *out, *added, *k, *v;

  DecodeScratch(const AttentionProblem& c, ScratchCut cut) {
    cut.take(q, kFewRows * c.width), cut.take(scores, kFewRows * kLaneKeys),
        cut.take(bias, c.bias.active() ? kLaneKeys : 0);
    cut.take(out, kFewRows * c.value_width), cut.take(added, std::max(kFewRows * c.value_width, c.width));
    cut.take(k, kLaneKeys * c.width), cut.take(v, c.v ? kLaneKeys * c.value_width : 0);
    bytes = cut.used();
  }

  Index bytes;
};

// Rows of the query heads that share a key/value head.
class DecodeRows {
 public:
  DecodeRows(const AttentionProblem& problem, const AttentionResult& wanted, char* memory)
      : c(problem), result(wanted), scratch_(problem, ScratchCut(memory)) {}

  // Row f is query f % Lq of the group's head f / Lq.
  void compute(Index b, Index g, Range rows) {
    b_ = b, g_ = g, count_ = rows.size(), met_ = kernels::few_rows_for(count_);
    std::fill_n(scratch_.q, met_ * c.width, 0.0f);
    Range hull{c.keys, 0};
    for (Index n = 0; n < count_; ++n) {
      Row& row = rows_[n];
      row = {.h = g * c.group + (rows.begin + n) / c.queries, .i = (rows.begin + n) % c.queries};
      row.sums = {kMinusInfinity, 0, 0};
      const Range open = c.mask.tile(b, row.h, {row.i, row.i + 1}).hull;
      if (!open.empty()) hull = {std::min(hull.begin, open.begin), std::max(hull.end, open.end)};
      const float* q = float_rows(c.q, b, row.h, {row.i, row.i + 1}, scratch_.added).data;
      for (Index d = 0; d < c.width; ++d) scratch_.q[d * met_ + n] = q[d];
    }
    std::fill_n(scratch_.out, count_ * c.value_width, 0.0f);
    for (Index begin = hull.begin / kLaneKeys * kLaneKeys; begin < hull.end; begin += kLaneKeys) {
      add_block({begin, std::min(c.keys, begin + kLaneKeys)});
    }
    for (Index n = 0; n < count_; ++n) store(rows_[n], scratch_.out + n * c.value_width);
  }

 private:
  struct Row {
    Index h = 0, i = 0;
    kernels::RowSums sums{};
  };

  // While the keys of a block are read, its values are asked for; then the keys of the next, some for each row that is
  // weighed, since nothing is read meanwhile.
  void add_block(Range keys) {
    for_stored_rows(c.k, b_, g_, keys, scratch_.k, [&](Range run, const kernels::StoredRows& k) {
      const kernels::StoredRowsAhead ahead = result.out ? rows_ahead(c.v, b_, g_, run) : kernels::StoredRowsAhead{};
      kernels::row_products(met_, scratch_.q, k, static_cast<float>(c.scale), ahead,
                            {scratch_.scores + (run.begin - keys.begin), kLaneKeys});
    });
    const Range next = intersect({keys.end, keys.end + kLaneKeys}, {0, c.keys});
    for (Index n = 0; n < count_; ++n) {
      prefetch(c.k, b_, g_, intersect({next.begin + n * kAskedByRow, next.begin + (n + 1) * kAskedByRow}, next));
      weigh(rows_[n], keys, scratch_.scores + n * kLaneKeys);
    }
    if (!result.out) return;
    const Range not_asked{next.begin + count_ * kAskedByRow, next.end};
    for_stored_rows(c.v, b_, g_, keys, scratch_.v, [&](Range run, const kernels::StoredRows& v) {
      const Range ahead = intersect({run.begin + kLaneKeys, run.end + kLaneKeys}, not_asked);
      kernels::row_sums(met_, {scratch_.scores + (run.begin - keys.begin), kLaneKeys}, v,
                        rows_ahead(c.k, b_, g_, ahead), run.begin == keys.begin, {scratch_.added, c.value_width});
    });
    for (Index n = 0; n < count_; ++n) {
      const Index at = n * c.value_width;
      kernels::decay_row(c.value_width, rows_[n].sums.decay, scratch_.added + at, scratch_.out + at);
    }
  }

  void weigh(Row& row, Range keys, float* scores) {
    kernels::AttentionRow block{.keys = keys.size(), .cap = static_cast<float>(c.cap)};
    block.allowed = allowed_bits(c.mask, b_, row.h, row.i, keys);
    if (c.bias.active()) {
      std::fill_n(scratch_.bias, kLaneKeys, 0.0f);
      c.bias.add(b_, row.h, row.i, keys, scratch_.bias);
      block.bias = scratch_.bias;
    }
    if (c.dropout.active()) {
      std::uint16_t drawn[kLaneKeys];
      kernels::attention_dropout_bits(c.dropout.seed(), c.dropout.head_stream(b_, row.h), row.i, 1, keys.begin,
                                      keys.size(), drawn, kLaneKeys);
      block.drops = true, block.keep_scale = static_cast<float>(c.dropout.scale());
      for (Index n = 0; n < keys.size(); ++n) {
        block.kept |= std::uint64_t{drawn[n] >= c.dropout.threshold()} << n;
      }
    }
    kernels::softmax_row(block, scores, row.sums);
  }

  void store(Row& row, float* out) {
    const bool dead = row.sums.top == kMinusInfinity && row.sums.sum == 0;
    const float sink = c.sink<float>(row.h);
    row.sums.decay = 1;
    if (sink != kMinusInfinity) kernels::softmax_row_sink(sink, row.sums);
    if (result.row_stat) {
      const float stat = dead ? kMinusInfinity : row.sums.top + std::log(row.sums.sum);
      result.row_stat.at<float>({b_, row.h, row.i}) = stat;
    }
    if (!result.out) return;
    const float factor = dead ? 0.0f : row.sums.decay / row.sums.sum;
    for (Index d = 0; d < c.value_width; ++d) out[d] *= factor;
    store_row(out, c.value_width, result.out, result.out.offset({b_, row.h, row.i}));
    repair_rows(c, result.out, {b_, row.h, {row.i, row.i + 1}});
  }

  const AttentionProblem& c;
  const AttentionResult& result;
  const DecodeScratch scratch_;
  Index b_ = 0, g_ = 0, count_ = 0, met_ = 0;  // met_: with rows of zeros behind them
  Row rows_[kFewRows];
};

void decode_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  if (result.weights || result.scores) return kFusedPlan.forward(c, result, workspace);
  const Index rows = c.group * c.queries, chunks = ceil_div(rows, kFewRows);
  const double work =
      static_cast<double>(std::min(rows, kFewRows) * c.keys) * static_cast<double>(c.width + c.value_width);
  const Index bytes = DecodeScratch(c, ScratchCut(nullptr)).bytes;
  const Index grain = grain_of(work, kDecodingChunkWork);
  parallel_for_with_scratch(workspace, bytes, c.batch * c.key_heads * chunks, grain,
                            [&](Index begin, Index end, char* memory) {
                              DecodeRows thread(c, result, memory);
                              for (Index unit = begin; unit < end; ++unit) {
                                const Index b = unit / chunks / c.key_heads, g = unit / chunks % c.key_heads,
                                            first = unit % chunks * kFewRows;
                                thread.compute(b, g, {first, std::min(rows, first + kFewRows)});
                              }
                            });
}

std::string_view decode_why_not(const AttentionProblem& c, const AttentionTask& task) {
  if (c.spec.score.kind != Score::Kind::dot) return "the score is no dot product";
  if (c.spec.normaliser.kind != Normaliser::Kind::softmax) return "the normaliser is no softmax";
  return kFusedPlan.why_not(c, task);
}

// The keys are turned into lanes once for some rows, which costs as much as some products.
double decode_cost(const AttentionProblem& c) {
  const double chunks = static_cast<double>(ceil_div(c.group * c.queries, kFewRows));
  const double keys = static_cast<double>(c.batch * c.key_heads) * static_cast<double>(c.keys);
  return pair_cost(c) + 6 * chunks * keys * static_cast<double>(c.width);
}

}  // namespace

const AttentionPlan kDecodePlan{"decode",       SumOrder::blocks,    decode_why_not,    decode_cost,
                                decode_forward, kFusedPlan.backward, kFusedPlan.weights};

}  // namespace heed
