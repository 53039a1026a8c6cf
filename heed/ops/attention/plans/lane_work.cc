#include "heed/ops/attention/plans/lane_work.h"

#include <algorithm>
#include <cstring>

#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/plans/key_bits.h"

namespace heed {
namespace {

using kernels::kLaneKeys;

Index round_up(Index value, Index unit) { return (value + unit - 1) / unit * unit; }

// The rows one after another, in `to` if they lie elsewhere.
FloatRows gathered(FloatRows rows, Index count, Index width, float* to) {
  if (rows.row == width) return rows;
  for (Index r = 0; r < count; ++r) std::copy_n(rows.data + r * rows.row, width, to + r * width);
  return {to, width};
}

}  // namespace

Index tiles_of_group(const AttentionProblem& c) {
  return c.group * ((c.queries + LaneWork::kRows - 1) / LaneWork::kRows);
}

RowTile tile_of_group(const AttentionProblem& c, Index b, Index g, Index nth) {
  const Index of_head = tiles_of_group(c) / c.group, begin = nth % of_head * LaneWork::kRows;
  return {b, g * c.group + nth / of_head, {begin, std::min(c.queries, begin + LaneWork::kRows)}};
}

LaneWork::LaneWork(const AttentionProblem& c, char* scratch, Pass pass, Index tiles)
    : c_(c), score_(*tile_score(c.spec.score.kind)) {
  layout(scratch, pass, tiles);
}

Index LaneWork::bytes(const AttentionProblem& c, Pass pass, Index tiles) {
  LaneWork measured(c, nullptr, pass, tiles);
  return measured.layout(nullptr, pass, tiles);
}

// Cuts the scratch memory into what this case needs; returns how much that is.
Index LaneWork::layout(char* base, Pass pass, Index tiles) {
  Index used = 0;
  const auto take = [&]<typename T>(T*& pointer, bool wanted, Index count) {
    if (!wanted) return;
    pointer = base == nullptr ? nullptr : reinterpret_cast<T*>(base + used);
    used += round_up(count * static_cast<Index>(sizeof(T)), 64);
  };
  const bool backward = pass == Pass::backward, narrow_q = c_.dtype != DType::f32;
  const bool narrow_k = c_.k.view().dtype != DType::f32, narrow_v = c_.v && c_.v.view().dtype != DType::f32;
  const Index rows = most_rows_ = std::min(round_up(std::max<Index>(c_.queries, 1), kernels::kLaneUnit), kRows);
  const Index block = std::min(std::max<Index>(c_.keys, 1), kLaneKeys);
  const bool bias = c_.bias.active();
  lane_floats_ = rows * (c_.width * (backward ? 2 : 1) + c_.value_width + 4);
  take(tiles_, true, tiles);
  take(scores_, true, block * rows);
  take(dscores_, backward, block * rows);
  take(bias_, bias, std::max(block * rows, block + rows));
  take(dbias_, backward && bias, block * rows);
  take(rows_scratch_, true, rows * (score_.map != nullptr && narrow_q ? std::max(kLaneKeys, c_.width) : kLaneKeys));
  take(k_, true, block * c_.width);
  take(v_, true, block * c_.value_width);
  take(lanes_, true, tiles * lane_floats_);
  take(q_rows_, narrow_q || backward || score_.map != nullptr, tiles * rows * c_.width);
  take(dout_rows_, backward, tiles * rows * c_.value_width);
  take(narrow_, narrow_q, rows * std::max(c_.width, c_.value_width));
  take(dk_, narrow_k && backward, c_.keys * c_.width);
  take(dv_, narrow_v && backward, c_.keys * c_.value_width);
  take(allowed_, true, rows * (kLaneKeys / 32));
  take(kept_, c_.dropout.active(), rows * (kLaneKeys / 32));
  return used;
}

void LaneWork::prefetch_short(const RowTile& tile) const {
  if (c_.keys > kLaneKeys) return;
  const Index g = tile.h / c_.group;
  prefetch(c_.q, tile.b, tile.h, tile.rows);
  prefetch(c_.k, tile.b, g, {0, c_.keys});
  if (c_.v) prefetch(c_.v, tile.b, g, {0, c_.keys});
}

std::span<LaneTile> LaneWork::turn_to(std::span<const RowTile> rows, const ConstView& dout) {
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const auto& [b, h, range] = rows[n];
    const Index at = static_cast<Index>(n), count = range.size(), lanes = round_up(count, kernels::kLaneUnit);
    LaneTile tile{.rows = rows[n], .lanes = lanes, .open = c_.mask.tile(b, h, range)};
    float* next = lanes_ + at * lane_floats_;
    const auto take = [&](float*& pointer, Index size) { pointer = next, next += size * lanes; };
    take(tile.top, 1), take(tile.sum, 1), take(tile.decay, 1), take(tile.factor, 1);
    take(tile.q_lanes, c_.width), take(tile.out_lanes, c_.value_width);
    float* q_rows = q_rows_ + at * most_rows_ * c_.width;
    tile.q = mapped(float_rows(c_.q, b, h, range, q_rows), count, q_rows);
    if (dout) {
      take(tile.dq_lanes, c_.width);
      float* dout_rows = dout_rows_ + at * most_rows_ * c_.value_width;
      tile.dout = float_rows(dout, b, h, range, dout_rows);
      if (c_.keys > kLaneKeys) {  // several blocks meet them as rows
        tile.q = gathered(tile.q, count, c_.width, q_rows);
        tile.dout = gathered(tile.dout, count, c_.value_width, dout_rows);
      }
      kernels::rows_to_lanes(count, c_.value_width, tile.dout.data, tile.dout.row, tile.out_lanes, lanes);
    }
    kernels::rows_to_lanes(count, c_.width, tile.q.data, tile.q.row, tile.q_lanes, lanes);
    tiles_[n] = tile;
  }
  return {tiles_, rows.size()};
}

// Rows that several tiles read are brought together first: heads lie beside one another, so that each row of one is
// in a page of its own.
void LaneWork::read_rows(const RowTile& tile, Range keys, bool often) {
  const Index g = tile.h / c_.group;
  keys_ = mapped(float_rows(c_.k, tile.b, g, keys, k_), keys.size(), k_);
  if (often) keys_ = gathered(keys_, keys.size(), c_.width, k_);
  if (!c_.v) return;
  values_ = float_rows(c_.v, tile.b, g, keys, v_);
  if (often) values_ = gathered(values_, keys.size(), c_.value_width, v_);
}

FloatRows LaneWork::mapped(FloatRows rows, Index count, float* to) const {
  if (score_.map == nullptr) return rows;
  score_.map(count, c_.width, rows, {to, c_.width});
  return {to, c_.width};
}

void LaneWork::map_query_gradients(const LaneTile& tile, FloatRows dq) {
  if (score_.map_gradients == nullptr) return;
  const auto& [b, h, rows] = tile.rows;
  score_.map_gradients(rows.size(), c_.width, float_rows(c_.q, b, h, rows, rows_scratch_), dq);
}

void LaneWork::map_key_gradients(Index b, Index g, Range of, FloatRows dk) {
  for (Index begin = of.begin; score_.map_gradients != nullptr && begin < of.end; begin += kLaneKeys) {
    const Range keys{begin, std::min(of.end, begin + kLaneKeys)};
    score_.map_gradients(keys.size(), c_.width, float_rows(c_.k, b, g, keys, k_), {dk.data + begin * dk.row, dk.row});
  }
}

void LaneWork::fill_products(const LaneTile& tile, Index count) {
  kernels::in_chains({.m = count,
                      .n = tile.lanes,
                      .k = c_.width,
                      .a = {keys_.data, keys_.row},
                      .b = {tile.q_lanes, tile.lanes},
                      .c = scores_,
                      .c_row = tile.lanes,
                      .alpha = static_cast<float>(c_.scale)},
                     kernels::gemm_tile);
}

TileCover LaneWork::cover_of(const MaskTile& open, Range keys) const {
  if (intersect(open.hull, keys).empty()) return TileCover::none;
  if (!c_.mask.hull_is_exact()) return c_.mask.cover(open, keys);
  return intersect(open.core, keys) == keys ? TileCover::all : TileCover::some;
}

LaneBlock LaneWork::block(const LaneTile& tile, Range keys, bool whole) {
  const auto& [b, h, rows] = tile.rows;
  kernels::AttentionLanes passes{.keys = keys.size(), .lanes = tile.lanes, .cap = static_cast<float>(c_.cap)};
  if (!whole) {
    fill_allowed(tile, keys);
    passes.allowed = allowed_;
  }
  if (c_.bias.active()) {
    fill_bias(tile, keys, passes);
  }
  if (c_.dropout.active()) {
    kernels::dropout_lanes(c_.dropout.seed(), c_.dropout.head_stream(b, h), rows.begin, tile.lanes, keys.begin,
                           keys.size(), c_.dropout.threshold(), kept_);
    passes.kept = kept_, passes.keep_scale = static_cast<float>(c_.dropout.scale());
  }
  return {keys, passes};
}

void LaneWork::fill_bias(const LaneTile& tile, Range keys, kernels::AttentionLanes& passes) {
  const auto& [b, h, rows] = tile.rows;
  const Index count = keys.size();
  if (c_.bias.goes_by_distance()) {
    // One number for each distance: that of row r and key j is the one at r - j from `zero` on.
    std::fill_n(bias_, count + tile.lanes, 0.0f);
    float* const zero = bias_ + count - 1;
    for (Index r = rows.size() - 1; r >= 0; r = r == 0 ? -1 : std::max<Index>(r - count, 0)) {
      std::fill_n(rows_scratch_, count, 0.0f);
      c_.bias.add(b, h, rows.begin + r, keys, rows_scratch_);
      for (Index j = 0; j < count; ++j) zero[r - j] = rows_scratch_[j];
    }
    passes.bias = zero, passes.bias_key = -1;
    return;
  }
  Index row_stride = kLaneKeys;
  const float* lying = c_.bias.floats(b, h, rows.begin, row_stride);
  if (lying != nullptr) {
    lying += keys.begin;
  } else {
    std::fill_n(rows_scratch_, rows.size() * kLaneKeys, 0.0f);
    for (Index r = 0; r < rows.size(); ++r) c_.bias.add(b, h, rows.begin + r, keys, rows_scratch_ + r * kLaneKeys);
    lying = rows_scratch_;
  }
  kernels::rows_to_lanes(rows.size(), count, lying, row_stride, bias_, tile.lanes);
  passes.bias = bias_, passes.bias_key = tile.lanes;
}

void LaneWork::fill_allowed(const LaneTile& tile, Range keys) {
  const auto& [b, h, rows] = tile.rows;
  for (Index r = 0; r < tile.lanes; ++r) {
    const std::uint64_t bits = r < rows.size() ? allowed_bits(c_.mask, b, h, rows.begin + r, keys) : 0;
    allowed_[r] = static_cast<std::uint32_t>(bits);
    allowed_[tile.lanes + r] = static_cast<std::uint32_t>(bits >> 32);
  }
}

}  // namespace heed
