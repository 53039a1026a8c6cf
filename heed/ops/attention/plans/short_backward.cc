#include <algorithm>

#include "heed/base/thread_scratch.h"
#include "heed/kernels/attention_rows.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/heads_ahead.h"
#include "heed/ops/attention/plans/lane_work.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/plans/short.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {
namespace {

// All that flows through one key/value head.
class ShortGradients {
 public:
  ShortGradients(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted,
                 LaneWork& thread)
      : c(problem), saved(given), grad(wanted), work_(thread) {}

  // What compute() reads and writes for its first query head.
  HeadsAhead rows_of(Index b, Index g) const {
    const Index h = g * c.group;
    HeadsAhead ahead;
    ahead.add(c.q, b, h), ahead.add(saved.dout, b, h), ahead.add(c.k.view(), b, g), ahead.add(c.v.view(), b, g);
    ahead.add(saved.out, b, h);
    ahead.add(grad.dv, b, g), ahead.add(grad.dk, b, g), ahead.add(grad.dq, b, h);
    return ahead;
  }

  // `next`: of the key/value head after this one.
  void compute(Index b, Index g, HeadsAhead& next) {
    bool fresh = true;
    for (Index h = g * c.group; h < (g + 1) * c.group; ++h) {
      fresh &= !add_head({b, h, {0, c.queries}}, fresh, next);
    }
    if (fresh) clear(grad.dk, b, g), clear(grad.dv, b, g);
    repair_gradients(c, saved, grad, b, g);
  }

 private:
  static FloatRows rows_at(const View& view, Index b, Index h) { return {&view.at<float>({b, h}), view.stride[2]}; }
  static void clear(const View& view, Index b, Index h) {
    for (Index r = 0; view && r < view.shape[2]; ++r) std::fill_n(&view.at<float>({b, h, r}), view.shape[3], 0.0f);
  }

  // Whether the head's rows have a key. With `fresh`, dk and dv hold nothing yet.
  bool add_head(const RowTile& rows, bool fresh, HeadsAhead& next) {
    const auto& [b, h, range] = rows;
    const Index g = h / c.group;
    const std::span<LaneTile> tiles = work_.turn_to({&rows, 1}, saved.dout);
    LaneTile& tile = tiles.front();
    read_statistic(tile);
    next.ask(6);
    LaneProducts& products = work_.products();
    work_.for_blocks(tiles, work_.all_keys(), false, [&](LaneTile&, const LaneBlock& block) {
      const kernels::LanePart whole{0, block.keys.size(), 0, tile.lanes};
      products.scores(tile, whole, work_.scores());
      next.ask(5);
      products.weight_gradients(tile, whole, work_.dscores());
      next.ask(4);
      // The weights after dropout, and beside them the gradients of the products.
      kernels::kSoftmaxLanes.gradients(block.passes, whole, tile.stat(), tile.delta(), static_cast<float>(c.scale),
                                       work_.scores(), work_.dscores(), nullptr);
      next.ask(3);
      if (grad.dv) products.add_value_gradients(tile, whole, work_.scores(), rows_at(grad.dv, rows.b, g), fresh);
      next.ask(2);
      if (grad.dk) products.add_key_gradients(tile, whole, work_.dscores(), rows_at(grad.dk, rows.b, g), fresh);
      next.ask(1);
      tile.started = true;
    });
    if (grad.dq) tile.started ? store_dq(tile) : clear(grad.dq, b, h);
    return tile.started;
  }

  // Leaves the statistic in `stat`, and in `delta` what a row's keys give back together.
  void read_statistic(const LaneTile& tile) const {
    const auto& [b, h, rows] = tile.rows;
    std::fill_n(tile.stat(), tile.lanes, 0.0f);
    std::fill_n(tile.delta(), tile.lanes, 0.0f);
    kernels::attention_row_dots(rows.size(), c.value_width, &saved.dout.at<float>({b, h}), saved.dout.stride[2],
                                &saved.out.at<float>({b, h}), saved.out.stride[2], tile.delta());
    for (Index r = 0; r < rows.size(); ++r) {
      tile.stat()[r] = saved.row_stat.at<float>({b, h, r});
      if (saved.drow_stat && tile.stat()[r] != kMinusInfinity) tile.delta()[r] -= saved.drow_stat.at<float>({b, h, r});
    }
  }

  void store_dq(const LaneTile& tile) const {
    const auto& [b, h, rows] = tile.rows;
    kernels::gemm_tile({.m = rows.size(),
                        .n = c.width,
                        .k = c.keys,
                        .a = {work_.dscores(), 1, tile.lanes},
                        .b = {&c.k.view().at<float>({b, h / c.group}), c.k.view().stride[2]},
                        .c = &grad.dq.at<float>({b, h}),
                        .c_row = grad.dq.stride[2]});
  }

  const AttentionProblem& c;
  const AttentionSaved& saved;
  const AttentionGrad& grad;
  LaneWork& work_;
};

}  // namespace

void short_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                    Workspace& workspace) {
  const bool parameters = grad.dbias || grad.dsinks || grad.drelative || grad.dcentre;
  if (!is_short(c) || parameters) return fused_backward(c, LaneNumbers::f32, saved, grad, workspace);
  const Index bytes = LaneWork::bytes(c, LaneNumbers::f32, LaneWork::Pass::backward, 1), units = c.batch * c.key_heads;
  parallel_for_with_scratch(workspace, bytes, units, short_grain(c), [&](Index begin, Index end, char* memory) {
    LaneWork thread(c, LaneNumbers::f32, LaneWork::Pass::backward, 1, 0, memory);
    ShortGradients heads(c, saved, grad, thread);
    for (Index unit = begin; unit < end; ++unit) {
      const Index next = unit + 1;
      HeadsAhead ahead = next < end ? heads.rows_of(next / c.key_heads, next % c.key_heads) : HeadsAhead();
      heads.compute(unit / c.key_heads, unit % c.key_heads, ahead);
    }
  });
}

}  // namespace heed
