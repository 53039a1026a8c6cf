#include "heed/ops/attention/plans/lane_work.h"

#include <algorithm>
#include <utility>

#include "heed/kernels/lane_dropout.h"
#include "heed/ops/attention/plans/fused.h"
#include "heed/ops/attention/spec/key_bits.h"

namespace heed {
namespace {

using kernels::kLaneKeys;

// What products write is in whole tiles of a unit.
Index whole(Index count) { return round_up(count, kernels::kPairRows); }

}  // namespace

LaneWork::LaneWork(const AttentionProblem& c, LaneNumbers numbers, Pass pass, Index tiles, Index sum_keys,
                   char* scratch)
    : LaneWork(c, numbers, pass, tiles, sum_keys, ScratchCut(scratch)) {}

Index LaneWork::bytes(const AttentionProblem& c, LaneNumbers numbers, Pass pass, Index tiles, Index sum_keys) {
  return LaneWork(c, numbers, pass, tiles, sum_keys, ScratchCut(nullptr)).used_;
}

LaneWork::LaneWork(const AttentionProblem& c, LaneNumbers numbers, Pass pass, Index tiles, Index sum_keys,
                   ScratchCut scratch)
    : c_(c),
      products_(numbers == LaneNumbers::bf16
                    ? static_cast<LaneProducts&>(bf16_products_.emplace(c, pass, tiles, most_lanes(c), scratch))
                    : static_cast<LaneProducts&>(float_products_.emplace(c, pass, tiles, scratch))) {
  const bool backward = pass == Pass::backward, bias = c.bias.active();
  const Index rows = most_lanes(c), block = std::min(whole(std::max<Index>(c.keys, 1)), kLaneKeys);
  lane_floats_ = rows * (4 + whole(backward ? c.width : c.value_width));
  scratch.take(tiles_, tiles);
  scratch.take(row_keys_, tiles * rows);
  scratch.take(lanes_, tiles * lane_floats_);
  scratch.take(scores_, block * rows);
  scratch.take(rows_scratch_, rows * kLaneKeys);
  scratch.take(allowed_, rows * (kLaneKeys / 32));
  if (backward) scratch.take(dscores_, block * rows);
  if (pass == Pass::forward) scratch.take(decays_, block * rows);
  if (bias) scratch.take(bias_, std::max(block * rows, block + rows));
  if (backward && bias) scratch.take(dbias_, block * rows);
  if (const Index blocks = tiles * ceil_div(c.keys, kLaneKeys); backward && looks_twice(c) && blocks <= kMostHeld) {
    held_floats_ = block * rows;
    scratch.take(held_, blocks * 2 * held_floats_);
  }
  if (c.dropout.active()) scratch.take(kept_, rows * (kLaneKeys / 32));
  if (c.dtype != DType::f32) scratch.take(narrow_, rows * std::max(c.width, c.value_width));
  sum_keys = std::min(sum_keys, c.keys);
  if (backward && c.k.view().dtype != DType::f32) scratch.take(dk_, whole(sum_keys) * whole(c.width));
  if (backward && c.v && c.v.view().dtype != DType::f32) scratch.take(dv_, whole(sum_keys) * whole(c.value_width));
  used_ = scratch.used();
}

Index LaneWork::sums_row(Index width) { return whole(width); }

bool LaneWork::looks_twice(const AttentionProblem& c) {
  return c.dtype != DType::f32 && lane_normaliser(c.spec.normaliser.kind)->flow != nullptr;
}

LaneWork::Held LaneWork::held(Index nth) const {
  if (held_ == nullptr) return {};
  float* const at = held_ + nth * 2 * held_floats_;
  return {at, at + held_floats_};
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
    const Index nth = static_cast<Index>(n), lanes = whole(rows[n].rows.size());
    LaneTile tile{.rows = rows[n], .nth = nth, .lanes = lanes, .row_keys = row_keys_ + nth * most_lanes(c_)};
    tile.open = open_of(rows[n], tile.row_keys);
    float* next = lanes_ + nth * lane_floats_;
    const auto take = [&](float*& pointer, Index size) { pointer = next, next += size * lanes; };
    take(tile.top, 1), take(tile.sum, 1), take(tile.decay, 1), take(tile.factor, 1);
    dout ? take(tile.dq_lanes, whole(c_.width)) : take(tile.out_lanes, whole(c_.value_width));
    products_.read_tile(tile, dout);
    tiles_[n] = tile;
  }
  return {tiles_, rows.size()};
}

MaskTile LaneWork::open_of(const RowTile& of, Range* row_keys) {
  const auto& [b, h, rows] = of;
  if (rows != seen_.rows || !c_.mask.alike(b, h, seen_.b, seen_.h)) {
    seen_ = c_.mask.tile(b, h, rows, row_keys), seen_row_keys_ = row_keys;
  } else if (row_keys != seen_row_keys_) {
    std::copy_n(seen_row_keys_, rows.size(), row_keys);
  }
  seen_.b = b, seen_.h = h;
  return seen_;
}

TileCover LaneWork::cover_of(const MaskTile& open, Range keys) const {
  if (intersect(open.hull, keys).empty()) return TileCover::none;
  if (!c_.mask.hull_is_exact()) return c_.mask.cover(open, keys);
  return intersect(open.core, keys) == keys ? TileCover::all : TileCover::some;
}

LaneBlock LaneWork::block(const LaneTile& tile, Range keys, bool whole) {
  const auto& [b, h, rows] = tile.rows;
  kernels::AttentionLanes passes{.keys = keys.size(),
                                 .lanes = tile.lanes,
                                 .scale = products_.scale_of_scores(),
                                 .cap = static_cast<float>(c_.cap)};
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
  const Index count = keys.size();
  const bool cut = !whole && products_.cuts_parts();
  return {keys, passes, cut ? LaneParts(count, tile.lanes, allowed_) : LaneParts(count, tile.lanes)};
}

void LaneWork::fill_bias(const LaneTile& tile, Range keys, kernels::AttentionLanes& passes) {
  const auto& [b, h, rows] = tile.rows;
  const Index count = keys.size();
  if (c_.bias.goes_by_distance()) {
    // One number for each distance: that of row r and key j is the one at r - j from `zero` on.
    float* const zero = bias_ + count - 1;
    c_.bias.fill_by_distance(b, h, {rows.begin - keys.end + 1, rows.begin + tile.lanes - keys.begin}, bias_);
    passes.bias = zero, passes.bias_key = -1;
    return;
  }
  Index row_stride = kLaneKeys;
  const float* lying = c_.bias.floats(b, h, rows.begin, row_stride);
  if (lying != nullptr) {
    lying += keys.begin;
    if (keys.end < c_.keys) passes.bias_ahead = lying + count, passes.bias_ahead_row = row_stride;
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
  const RowTile last = std::exchange(allowed_rows_, tile.rows);
  const bool same_keys = std::exchange(allowed_keys_, keys) == keys;
  if (same_keys && rows == last.rows && c_.mask.alike(b, h, last.b, last.h)) return;
  std::uint64_t bits[kTileRows];
  const bool open = intersect(tile.open.core, keys) == keys;
  for (Index r = 0; r < rows.size(); ++r) bits[r] = bits_within(open ? keys : tile.row_keys[r], keys);
  c_.mask.refuse_within_hulls(b, h, rows, keys, bits);
  std::fill(bits + rows.size(), bits + tile.lanes, std::uint64_t{0});
  for (Index r = 0; r < tile.lanes; ++r) {
    allowed_[r] = static_cast<std::uint32_t>(bits[r]);
    allowed_[tile.lanes + r] = static_cast<std::uint32_t>(bits[r] >> 32);
  }
}

}  // namespace heed
