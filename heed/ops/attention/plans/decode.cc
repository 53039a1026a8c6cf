// The plan "decode": few queries against many keys, as a step of decoding has them. The keys go into SIMD lanes, and a
// block is read once for all query heads that share it. Each row has the bits that the plan "fused" gives it, which
// does all else: matrices of weights, and gradients where "short" does not.
#include <algorithm>

#include "heed/kernels/lane_row.h"
#include "heed/kernels/stored_rows.h"
#include "heed/ops/attention/plans/decode_rows.h"
#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/short.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

using kernels::kLaneKeys;

// Of rows that are summed in f32, whatever keys and values are kept as.
class FloatRowProducts {
 public:
  static constexpr Index kMostRows = kernels::kFewRows, kLeastRows = kMostRows;
  static constexpr bool kNarrowWeights = false;

  FloatRowProducts(const AttentionProblem& problem, Index rows, ScratchCut& scratch)
      : c(problem), score_(*tile_score(problem.spec.score.kind)) {
    const Index most = kernels::few_rows_for(rows);
    scratch.take(q_, most * c.width), scratch.take(query_, c.width);
    scratch.take(added_, most * c.value_width), scratch.take(out_, most * c.value_width);
    scratch.take(k_, kLaneKeys * c.width), scratch.take(values_, kLaneKeys);
    if (c.v) scratch.take(v_, kLaneKeys * c.value_width);
  }

  void begin(Index count) {
    count_ = count, met_ = kernels::few_rows_for(count);
    std::fill_n(q_, met_ * c.width, 0.0f);
    std::fill_n(out_, count * c.value_width, 0.0f);
  }

  void read_query(Index row, Index b, Index h, Index i) {
    const FloatRows q = mapped_rows(score_, 1, c.width, float_rows(c.q, b, h, {i, i + 1}, query_), query_);
    for (Index d = 0; d < c.width; ++d) q_[d * met_ + row] = q.data[d];
  }

  void scores(Index b, Index g, Range keys, Range turn, Index end, float* to) const {
    if (score_.map != nullptr) {
      const FloatRows k = mapped_rows(score_, keys.size(), c.width, float_rows(c.k, b, g, keys, k_), k_);
      const kernels::StoredRows rows{.data = k.data, .count = keys.size(), .width = c.width, .row = k.row};
      return kernels::row_products(met_, q_, rows, static_cast<float>(c.scale), {to, kLaneKeys});
    }
    for_stored_rows({c.k, turn, c.v, turn.begin, end}, b, g, keys, k_, [&](Range run, const kernels::StoredRows& k) {
      kernels::row_products(met_, q_, k, static_cast<float>(c.scale), {to + (run.begin - keys.begin), kLaneKeys});
    });
  }

  void turn_to_values(Index b, Index g, Range keys, Range turn, Index end) {
    runs_ = 0;
    for_stored_rows({c.v, turn, c.k, turn.end, end}, b, g, keys, v_,
                    [&](Range, const kernels::StoredRows& v) { values_[runs_++] = v; });
  }
  void ask_ahead() { kernels::ask_for_some(values_[0]); }
  void add_values(const float* weights, const float* decays) {
    Index first = 0;
    for (Index n = 0; n < runs_; first += values_[n++].count) {
      kernels::row_sums(met_, {weights + first, kLaneKeys}, values_[n], first == 0, {added_, c.value_width});
    }
    for (Index n = 0; n < count_; ++n) {
      kernels::decay_row(c.value_width, decays[n], added_ + n * c.value_width, out_ + n * c.value_width);
    }
  }

  const float* out(Index row) const { return out_ + row * c.value_width; }

 private:
  const AttentionProblem& c;
  const TileScore& score_;
  Index count_ = 0, met_ = 0;              // met_: with rows of zeros behind them
  kernels::StoredRows* values_ = nullptr;  // of a block, in runs
  Index runs_ = 0;
  float *q_ = nullptr, *query_ = nullptr, *added_ = nullptr, *out_ = nullptr, *k_ = nullptr, *v_ = nullptr;
};

void decode_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  if (result.weights || result.scores) return kFusedPlan.forward(c, result, workspace);
  decode_rows<FloatRowProducts>(c, result, workspace);
}

void decode_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                     Workspace& workspace) {
  const bool short_fits = kShortPlan.refusal(c, {.pass = AttentionTask::Pass::backward}).empty();
  (short_fits ? kShortPlan : kFusedPlan).backward(c, saved, grad, workspace);
}

// Measured. The keys are turned into lanes once for some rows, which costs as much as some products, and mapping them
// more; where keys are few, what a row takes by itself counts.
double decode_cost(const AttentionProblem& c) {
  const double chunks = static_cast<double>(ceil_div(c.group * c.queries, kernels::kFewRows));
  const double keys = static_cast<double>(c.batch * c.key_heads) * static_cast<double>(c.keys);
  const double rows = static_cast<double>(c.batch * c.heads) * static_cast<double>(c.queries);
  const bool maps = tile_score(c.spec.score.kind)->map != nullptr;
  return pair_cost(c) + ((maps ? 17 : 6) * chunks * keys + 11 * rows) * static_cast<double>(c.width);
}

}  // namespace

const AttentionPlan kDecodePlan{"decode",       SumOrder::blocks, kFusedPlan.why_not, decode_cost,
                                decode_forward, decode_backward,  kFusedPlan.weights};

}  // namespace heed
