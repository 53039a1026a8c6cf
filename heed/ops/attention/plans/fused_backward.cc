#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "heed/base/thread_scratch.h"
#include "heed/kernels/attention_rows.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/plans/fused_periodic.h"
#include "heed/ops/attention/plans/lane_carry.h"
#include "heed/ops/attention/plans/lane_work.h"
#include "heed/ops/attention/plans/periodic_parts.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {
namespace {

constexpr Index kTiles = 4;                           // that a block of keys is read for at once, at most
constexpr Index kPieceKeys = 8 * kernels::kLaneKeys;  // whose sums are made at once where a head is cut, at most
constexpr Index kMostSums = Index{1} << 19;           // floats of dk and dv that a thread keeps beside 16-bit gradients

// So many that what is looked at twice is held, where it can be, and stays in the second cache, where one tile's does.
Index tiles_at_once(const AttentionProblem& c) {
  constexpr Index kCached = LaneWork::kMostHeld / 2;  // blocks, in 1 MiB
  const Index blocks = std::max<Index>(ceil_div(c.keys, kernels::kLaneKeys), 1);
  const bool holds = LaneWork::looks_twice(c) && blocks <= LaneWork::kMostHeld;
  return holds ? std::clamp<Index>(kCached / blocks, 1, kTiles) : kTiles;
}

// All that flows through one key/value head, some tiles of rows against a block of keys after another.
class FusedHead {
 public:
  // Where is found what the keys of a row give back together: in a second look at its scores (LaneWork::looks_twice),
  // which may leave it in `flow`, [B, H, Lq], or in a flow that such a head has found.
  struct Flow {
    float* flow = nullptr;
    bool found = false;
  };
  FusedHead(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted,
            const GradientCarry& carried, Flow flow, LaneWork& thread)
      : c(problem),
        saved(given),
        grad(wanted),
        carry_(carried),
        flow_(flow),
        normaliser_(*lane_normaliser(problem.spec.normaliser.kind)),
        work_(thread) {}

  // Asks for what compute() reads and writes, where that is little.
  void prefetch_short(Index b, Index g) const {
    if (c.keys > kernels::kLaneKeys || c.queries > kTileRows) return;
    const Range queries{0, c.queries}, keys{0, c.keys};
    for (Index h = g * c.group; h < (g + 1) * c.group; ++h) {
      work_.prefetch_short({b, h, queries});
      prefetch(saved.dout, b, h, queries), prefetch(saved.out, b, h, queries);
      if (grad.dq) prefetch(grad.dq, b, h, queries);
    }
    if (grad.dk) prefetch(grad.dk, b, g, keys);
    if (grad.dv) prefetch(grad.dv, b, g, keys);
  }

  // What flows between some of the tiles of the group's query heads, and some keys, which begin with a block.
  void compute(Index b, Index g, Range tiles, Range keys) {
    keys_ = keys;
    dk_ = sums_of(grad.dk, work_.dk_sums(), b, g);
    dv_ = sums_of(grad.dv, work_.dv_sums(), b, g);
    fresh_ = !carry_.active && c.keys <= kernels::kLaneKeys;  // the only block writes the sums first
    if (!fresh_ && !carry_.active) clear_sums();
    const auto most = static_cast<std::size_t>(tiles_at_once(c));
    std::array<RowTile, kTiles> rows;
    std::size_t count = 0;
    for (Index nth = tiles.begin; nth < tiles.end; ++nth) {
      rows[count] = tile_of_group(c, b, g, nth);
      count += gives_something(rows[count]);
      if (count == most || nth + 1 == tiles.end) add_tiles({rows.data(), std::exchange(count, 0)});
    }
    if (fresh_) clear_sums();
    if (grad.dk) work_.products().map_key_gradients(b, g, keys, dk_);
    store_sums(grad.dk, dk_, b, g);
    store_sums(grad.dv, dv_, b, g);
  }

 private:
  // Where f32 sums for the rows of keys_ are made: in place, or in scratch where the gradient is of 16 bits.
  FloatRows sums_of(const View& view, float* scratch, Index b, Index g) {
    if (!view) return {};
    if (view.dtype == DType::f32) return {&view.at<float>({b, g, keys_.begin}), view.stride[2]};
    return {scratch, work_.sums_row(view.shape[3])};
  }
  void clear_sums() {
    if (grad.dk) clear(dk_, keys_.size(), c.width);
    if (grad.dv) clear(dv_, keys_.size(), c.value_width);
  }
  void store_sums(const View& view, FloatRows sums, Index b, Index g) {
    if (view && view.dtype != DType::f32) store_rows(sums, view, b, g, keys_);
  }

  // Whether rows are to be met: some see keys of a piece, or what is their own is to be written all the same.
  bool gives_something(const RowTile& of) const {
    if (grad.dq || grad.dsinks || keys_ == work_.all_keys()) return true;
    const MaskTile tile = c.mask.tile(of.b, of.h, of.rows);
    return c.mask.cover(tile, intersect(tile.hull, keys_)) != TileCover::none;
  }

  std::span<LaneTile> turn_to(std::span<const RowTile> rows) {
    const std::span<LaneTile> tiles = work_.turn_to(rows, saved.dout);
    for (LaneTile& tile : tiles) {
      std::fill_n(tile.stat(), tile.lanes, 0.0f);
      std::fill_n(tile.delta(), tile.lanes, 0.0f);
      const auto& [b, h, range] = tile.rows;
      for (Index r = 0; r < range.size(); ++r) tile.stat()[r] = saved.row_stat.at<float>({b, h, range.begin + r});
      if (carry_.active && grad.dq) take_up_dq(tile);
    }
    return tiles;
  }

  void take_up_dq(LaneTile& tile) const {
    const auto& [b, h, rows] = tile.rows;
    kernels::rows_to_lanes(rows.size(), c.width, &grad.dq.at<float>({b, h, rows.begin}), grad.dq.stride[2],
                           tile.dq_lanes, tile.lanes);
    tile.started = true;
  }

  void add_tiles(std::span<const RowTile> rows) {
    const std::span<LaneTile> tiles = turn_to(rows);
    const bool twice = LaneWork::looks_twice(c) && !flow_.found;
    if (twice) find_flow(tiles);
    for (const LaneTile& tile : tiles) read_delta(tile);
    if (flow_.flow != nullptr && !flow_.found && !grad.dq) return;  // the flow was all
    Index nth = 0;
    work_.for_blocks(tiles, keys_, false, [&](LaneTile& tile, const LaneBlock& block) {
      const bool held = point_to(twice ? work_.held(nth++) : LaneWork::Held{});
      add_block(tile, block, held);
      tile.started = true;
    });
    for (const LaneTile& tile : tiles) {
      if (grad.dq) store_dq(tile);
    }
  }

  // Leaves in `delta` what the keys of the rows give back together, and what was read for it where it is held.
  void find_flow(std::span<LaneTile> tiles) {
    Index nth = 0;
    work_.for_blocks(tiles, work_.all_keys(), false, [&](const LaneTile& tile, const LaneBlock& block) {
      point_to(work_.held(nth++));
      for (const kernels::LanePart& part : block.parts.by_lanes()) {
        read_part(tile, part);
        work_.products().add_flow(tile, block.passes, part, scores_, dscores_);
      }
    });
    for (const LaneTile& tile : tiles) {
      if (flow_.flow != nullptr) std::copy_n(tile.delta(), tile.rows.rows.size(), flow_at(tile.rows));
    }
  }

  // Turns to a block's scores and what is beside them, where they are held or else are computed; whether they are held.
  bool point_to(const LaneWork::Held& held) {
    const bool is_held = held.scores != nullptr;
    scores_ = is_held ? held.scores : work_.scores(), dscores_ = is_held ? held.dscores : work_.dscores();
    return is_held;
  }

  float* flow_at(const RowTile& rows) const {
    return flow_.flow + (rows.b * c.heads + rows.h) * c.queries + rows.rows.begin;
  }

  // Leaves a part's scaled products in the scores, and the gradients of its weights, v . dout, beside them.
  void read_part(const LaneTile& tile, const kernels::LanePart& part) {
    work_.products().scores(tile, part, scores_);
    work_.products().weight_gradients(tile, part, dscores_);
  }

  // Fills delta with what a row's keys give back together, less the gradient of the statistic, and adds the gradient of
  // the sink, which goes by it.
  void read_delta(const LaneTile& tile) {
    const auto& [b, h, rows] = tile.rows;
    if (flow_.found) {
      std::copy_n(flow_at(tile.rows), rows.size(), tile.delta());
    } else if (normaliser_.flow != nullptr && !LaneWork::looks_twice(c)) {
      kernels::attention_row_dots(rows.size(), c.value_width, &saved.dout.at<float>({b, h, rows.begin}),
                                  saved.dout.stride[2], &saved.out.at<float>({b, h, rows.begin}), saved.out.stride[2],
                                  tile.delta());
    }
    const float sink = c.sink<float>(h);
    double dsink = 0;
    for (Index r = 0; r < rows.size(); ++r) {
      const bool dead = tile.stat()[r] == kMinusInfinity;
      if (saved.drow_stat && !dead && normaliser_.sums_to_one)
        tile.delta()[r] -= saved.drow_stat.at<float>({b, h, rows.begin + r});
      if (grad.dsinks && !dead) dsink -= std::exp(double{sink} - tile.stat()[r]) * tile.delta()[r];
    }
    if (grad.dsinks) grad.dsinks.at<float>({h}) += static_cast<float>(dsink);
  }

  // `read`: whether its scores, and what is beside them, are there.
  void add_block(LaneTile& tile, const LaneBlock& block, bool read) {
    float* dbias = grad.dbias || grad.drelative || grad.dcentre ? work_.dbias() : nullptr;
    for (const kernels::LanePart& part : block.parts.by_lanes()) {
      if (!read) read_part(tile, part);
      work_.products().differentiate(tile, block.passes, part, scores_, dscores_, dbias);
    }
    if (dbias != nullptr) {
      block.parts.clear_rest(dbias);
      const RowTile& of = tile.rows;
      work_.for_rows(tile, dbias, block.keys.size(), [&](Index r, const float* row) {
        c.bias.add_gradient(of.b, of.h, of.rows.begin + r, block.keys, row, grad);
      });
    }
    add_to_keys(tile, block);
    if (!grad.dq) return;
    if (block.parts.leaves_lanes_out()) tile.start_zeroed(tile.dq_lanes, c.width);
    for (const kernels::LanePart& part : block.parts.by_lanes()) {
      work_.products().add_query_gradients(tile, part, dscores_, tile.started ? carry_.queries : AddedTo::nothing);
    }
  }

  // Adds what the weights and the gradients of the products give to dv and dk.
  void add_to_keys(const LaneTile& tile, const LaneBlock& block) {
    block.parts.clear_rest(scores_);
    block.parts.clear_rest(dscores_);
    if (fresh_ && !block.parts.is_whole()) clear_sums(), fresh_ = false;
    const AddedTo to = fresh_ ? AddedTo::nothing : carry_.keys;
    const auto of_block = [&](FloatRows sums) {
      return FloatRows{sums.data + (block.keys.begin - keys_.begin) * sums.row, sums.row};
    };
    block.parts.by_keys([&](const kernels::LanePart& part) {
      LaneProducts& products = work_.products();
      if (grad.dv) products.add_value_gradients(tile, part, scores_, of_block(dv_), to);
      if (grad.dk) products.add_key_gradients(tile, part, dscores_, of_block(dk_), to);
    });
    fresh_ = false;
  }

  void store_dq(const LaneTile& tile) {
    const auto& [b, h, range] = tile.rows;
    const Index rows = range.size();
    const bool direct = c.dtype == DType::f32;
    const FloatRows dq = direct ? FloatRows{&grad.dq.at<float>({b, h, range.begin}), grad.dq.stride[2]}
                                : FloatRows{work_.narrow_rows(), c.width};
    if (tile.started) {
      kernels::lanes_to_rows(rows, c.width, tile.dq_lanes, tile.lanes, nullptr, dq.data, dq.row);
    } else {
      clear(dq, rows, c.width);
    }
    work_.products().map_query_gradients(tile, dq);
    if (!direct) store_rows(dq, grad.dq, b, h, range);
  }

  const AttentionProblem& c;
  const AttentionSaved& saved;
  const AttentionGrad& grad;
  const GradientCarry& carry_;
  const Flow flow_;
  const kernels::LaneNormaliser& normaliser_;
  LaneWork& work_;
  float *scores_ = nullptr, *dscores_ = nullptr;  // of the block at work
  Range keys_{};
  FloatRows dk_, dv_;   // of keys_
  bool fresh_ = false;  // whether dk_ and dv_ hold nothing yet
};

constexpr LaneWork::Pass kBackward = LaneWork::Pass::backward;

// A call of the backward pass, over threads.
class FusedBackward {
 public:
  FusedBackward(const AttentionProblem& problem, LaneNumbers numbers, const AttentionSaved& given,
                const AttentionGrad& wanted, const GradientCarry& carried, Workspace& workspace)
      : c(problem), numbers_(numbers), saved(given), grad(wanted), carry_(carried), workspace_(workspace) {}

  void run() { wants_pieces() ? by_tiles_and_keys() : by_heads(); }

 private:
  // Whether a head is worth two passes: there are fewer heads than threads, or its sums of 16-bit gradients are large.
  // Where gradients of one side are all that is wanted, there is but one, unless it has to find the flow first.
  bool wants_pieces() const {
    if (grad.dbias || grad.dsinks || grad.drelative || grad.dcentre) return false;
    const bool is_long = c.queries > 2 * kTiles * kTileRows && c.keys > 16 * kernels::kLaneKeys;
    const bool is_large = c.k.view().dtype != DType::f32 && c.keys * (c.width + c.value_width) > kMostSums;
    const bool is_one = !LaneWork::looks_twice(c) && (!grad.dq || !(grad.dk || grad.dv));
    return is_large || ((is_long || is_one) && c.batch * c.key_heads < thread_count());
  }
  Index piece_keys() const {
    return std::clamp(round_up(ceil_div(c.keys, 2 * thread_count()), kernels::kLaneKeys), kernels::kLaneKeys,
                      kPieceKeys);
  }

  // The queries' gradients first, by tiles, then those of the keys, by blocks, each of which computes the weights for
  // itself. Every sum has the order that it has in one go.
  void by_tiles_and_keys() {
    AttentionGrad of_queries, of_keys;
    of_queries.dq = grad.dq;
    of_keys.dk = grad.dk, of_keys.dv = grad.dv;
    const Index tiles = tiles_of_group(c);
    const Workspace::Scope scope(workspace_);
    FusedHead::Flow flow;
    if (LaneWork::looks_twice(c)) flow.flow = workspace_.take<float>(c.batch * c.heads * c.queries);
    if (grad.dq || flow.flow != nullptr) {
      in_pieces(tiles, kTiles, of_queries, 0, flow, [&](FusedHead& head, Index b, Index g, Range some) {
        head.compute(b, g, some, {0, c.keys});
      });
    }
    flow.found = flow.flow != nullptr;
    if (grad.dk || grad.dv) {
      const Index piece = piece_keys();
      in_pieces(c.keys, piece, of_keys, piece, flow, [&](FusedHead& head, Index b, Index g, Range some) {
        head.compute(b, g, {0, tiles}, some);
      });
    }
    for (Index unit = 0; unit < c.batch * c.key_heads; ++unit) repair(unit / c.key_heads, unit % c.key_heads);
  }

  // Calls body(head, b, g, piece) for the pieces of [0, count) of each key/value head.
  template <typename Body>
  void in_pieces(Index count, Index piece, const AttentionGrad& wanted, Index sum_keys, FusedHead::Flow flow,
                 const Body& body) {
    const Index pieces = ceil_div(count, piece),
                bytes = LaneWork::bytes(c, numbers_, kBackward, tiles_at_once(c), sum_keys);
    const double rows = static_cast<double>(c.queries * c.group) / static_cast<double>(std::max<Index>(pieces, 1));
    const Index grain = grain_of(rows * static_cast<double>(c.keys * (c.width + c.value_width)), kChunkWork);
    const auto run = [&](Index begin, Index end, char* memory) {
      LaneWork thread(c, numbers_, kBackward, tiles_at_once(c), sum_keys, memory);
      FusedHead head(c, saved, wanted, carry_, flow, thread);
      for (Index unit = begin; unit < end; ++unit) {
        const Index nth = pieces - 1 - unit % pieces;  // under a causal mask the last rows are the longest
        const Range range{nth * piece, std::min(count, (nth + 1) * piece)};
        body(head, unit / pieces / c.key_heads, unit / pieces % c.key_heads, range);
      }
    };
    parallel_for_with_scratch(workspace_, bytes, c.batch * c.key_heads * pieces, grain, run);
  }

  // Key/value heads are independent, but for a parameter's gradient that several of them share: those run one after
  // another.
  void by_heads() {
    const auto shared = [](const View& gradient, int axis) { return gradient && gradient.shape[axis] == 1; };
    const bool batch_in_order = shared(grad.dbias, 0) || shared(grad.dcentre, 0) || grad.dsinks || grad.drelative;
    const bool heads_in_order = shared(grad.dbias, 1) || shared(grad.dcentre, 1);
    const Index batches = batch_in_order ? 1 : c.batch, groups = heads_in_order ? 1 : c.key_heads;
    const double work = static_cast<double>(c.queries * c.group) * static_cast<double>(c.keys) *
                        static_cast<double>(c.width + c.value_width) * 2;
    const Index bytes = LaneWork::bytes(c, numbers_, kBackward, tiles_at_once(c), c.keys),
                grain = grain_of(work, kChunkWork);
    parallel_for_with_scratch(workspace_, bytes, batches * groups, grain, [&](Index begin, Index end, char* memory) {
      LaneWork thread(c, numbers_, kBackward, tiles_at_once(c), c.keys, memory);
      FusedHead head(c, saved, grad, carry_, {}, thread);
      for (Index unit = begin; unit < end; ++unit) {
        const Index b0 = unit / groups, g0 = unit % groups, next = unit + 1;
        if (next < end) head.prefetch_short(next / groups, next % groups);
        for (Index b = b0; b < (batch_in_order ? c.batch : b0 + 1); ++b)
          for (Index g = g0; g < (heads_in_order ? c.key_heads : g0 + 1); ++g) {
            head.compute(b, g, {0, tiles_of_group(c)}, {0, c.keys});
            repair(b, g);
          }
      }
    });
  }

  void repair(Index b, Index g) const {
    if (!carry_.active) repair_gradients(c, saved, grad, b, g);
  }

  const AttentionProblem& c;
  const LaneNumbers numbers_;
  const AttentionSaved& saved;
  const AttentionGrad& grad;
  const GradientCarry& carry_;
  Workspace& workspace_;
};

}  // namespace

Index fused_backward_sweep_bytes(const AttentionProblem& c) {
  return LaneWork::bytes(c, LaneNumbers::f32, kBackward, tiles_at_once(c), c.keys);
}

void fused_backward_sweep(const AttentionProblem& c, Index b, Index g, const AttentionSaved& saved,
                          const AttentionGrad& grad, const GradientCarry& carry, char* memory) {
  LaneWork work(c, LaneNumbers::f32, kBackward, tiles_at_once(c), c.keys, memory);
  FusedHead(c, saved, grad, carry, {}, work).compute(b, g, {0, tiles_of_group(c)}, {0, c.keys});
}

void fused_backward_sweep(const AttentionProblem& c, LaneNumbers numbers, const AttentionSaved& saved,
                          const AttentionGrad& grad, const GradientCarry& carry, Workspace& workspace) {
  FusedBackward(c, numbers, saved, grad, carry, workspace).run();
}

void fused_backward(const AttentionProblem& c, LaneNumbers numbers, const AttentionSaved& saved,
                    const AttentionGrad& grad, Workspace& workspace) {
  // A gradient of rows that the score maps, or of sinks, needs all sums of a row at once.
  const bool plain = c.spec.score.kind == Score::Kind::dot && !grad.dsinks;
  if (numbers == LaneNumbers::f32 && plain && PeriodicParts::fit(c))
    return periodic_backward(c, saved, grad, workspace);
  fused_backward_sweep(c, numbers, saved, grad, {}, workspace);
}

}  // namespace heed
