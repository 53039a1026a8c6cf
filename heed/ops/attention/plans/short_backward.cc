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
    if (fresh) clear(grad.dk, b, g, {0, c.keys}), clear(grad.dv, b, g, {0, c.keys});
    repair_gradients(c, saved, grad, b, g);
  }

 private:
  static FloatRows rows_at(const View& view, Index b, Index h) { return {&view.at<float>({b, h}), view.stride[2]}; }
  static void clear(const View& view, Index b, Index h, Range rows) {
    for (Index r = rows.begin; view && r < rows.end; ++r) std::fill_n(&view.at<float>({b, h, r}), view.shape[3], 0.0f);
  }

  // Whether the head's rows have a key. With `fresh`, dk and dv hold nothing yet.
  bool add_head(const RowTile& rows, bool fresh, HeadsAhead& next) {
    const std::span<LaneTile> tiles = work_.turn_to({&rows, 1}, saved.dout);
    LaneTile& tile = tiles.front();
    read_statistic(tile);
    next.ask(5);
    LaneProducts& products = work_.products();
    work_.for_blocks(tiles, work_.all_keys(), false, [&](LaneTile&, const LaneBlock& block) {
      const LaneParts& parts = block.parts;
      parts.by_keys([&](const kernels::LanePart& part) { products.scores(tile, part, work_.scores()); });
      next.ask(4);
      parts.by_keys([&](const kernels::LanePart& part) { products.weight_gradients(tile, part, work_.dscores()); });
      next.ask(3);
      // The weights after dropout, and beside them the gradients of the products.
      for (const kernels::LanePart& part : parts.by_lanes()) {
        kernels::kSoftmaxLanes.gradients(block.passes, part, tile.stat(), tile.delta(), static_cast<float>(c.scale),
                                         work_.scores(), work_.dscores(), nullptr);
      }
      parts.clear_rest(work_.scores()), parts.clear_rest(work_.dscores());
      next.ask(2);
      add_to_keys(tile, parts, fresh);
      next.ask(1);
      if (parts.leaves_lanes_out()) clear(grad.dq, rows.b, rows.h, rows.rows);
      for (const kernels::LanePart& part : parts.by_lanes()) store_dq(tile, part);
      tile.started = true;
    });
    if (!tile.started) clear(grad.dq, rows.b, rows.h, rows.rows);
    return tile.started;
  }

  // Adds what the weights and the gradients of the products give to dv and dk, or with `fresh` writes it.
  void add_to_keys(const LaneTile& tile, const LaneParts& parts, bool fresh) {
    const Index b = tile.rows.b, g = tile.rows.h / c.group;
    const AddedTo to = fresh ? AddedTo::nothing : AddedTo::sums;
    Index written = 0;
    const auto leave_out = [&](Range keys) {
      if (fresh && !keys.empty()) clear(grad.dk, b, g, keys), clear(grad.dv, b, g, keys);
    };
    parts.by_keys([&](const kernels::LanePart& part) {
      leave_out({written, part.first_key});
      written = part.end_key;
      if (grad.dv) work_.products().add_value_gradients(tile, part, work_.scores(), rows_at(grad.dv, b, g), to);
      if (grad.dk) work_.products().add_key_gradients(tile, part, work_.dscores(), rows_at(grad.dk, b, g), to);
    });
    leave_out({written, c.keys});
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

  void store_dq(const LaneTile& tile, const kernels::LanePart& part) const {
    if (!grad.dq) return;
    const auto& [b, h, rows] = tile.rows;
    const Index key = part.first_key, row = part.first_lane;
    kernels::gemm_tile({.m = std::min(part.end_lane, rows.size()) - row,
                        .n = c.width,
                        .k = part.keys(),
                        .a = {work_.dscores() + key * tile.lanes + row, 1, tile.lanes},
                        .b = {&c.k.view().at<float>({b, h / c.group, key}), c.k.view().stride[2]},
                        .c = &grad.dq.at<float>({b, h, row}),
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
