#include "heed/ops/attention/plans/bf16_products.h"

#include <algorithm>

#include "heed/kernels/lane_layout.h"
#include "heed/ops/attention/plans/fused.h"

namespace heed {
namespace {

using kernels::kLaneKeys;
using kernels::kPairDepth;
using kernels::kPairRows;

// Pairs are moved as floats: no bit of them changes.
void pairs_to_lanes(Index rows, Index columns, const void* x, Index x_row, std::uint32_t* to, Index lanes) {
  kernels::rows_to_lanes(rows, columns, static_cast<const float*>(x), x_row, reinterpret_cast<float*>(to), lanes);
}

}  // namespace

Bf16Products::Bf16Products(const AttentionProblem& c, AttentionTask::Pass pass, Index tiles, Index lanes,
                           ScratchCut& scratch)
    : c_(c),
      unit_(*kernels::pair_unit()),
      normaliser_(*lane_normaliser(c.spec.normaliser.kind)),
      opened_(!scratch.measures()),
      backward_(pass == AttentionTask::Pass::backward) {
  const Index depth = round_up(c.width, kPairDepth), sums = round_up(c.width, kPairRows);
  const Index value_depth = round_up(c.value_width, kPairDepth), value_sums = round_up(c.value_width, kPairRows);
  const auto take = [&](Factors*& factors, Index to_depth, Index to_sums) {
    scratch.take(factors, tiles);
    for (Index n = 0; n < tiles; ++n) {
      Factors x{};
      scratch.take(x.lanes, to_depth / 2 * lanes);
      if (backward_) scratch.take(x.rows, kTileRows / 2 * to_sums);
      if (opened_) factors[n] = x;
    }
  };
  take(q_, depth, sums);
  if (backward_) take(dout_, value_depth, value_sums);
  scratch.take(rows_, lanes * std::max(depth, value_depth));
  scratch.take(k_, kLaneKeys * depth);
  scratch.take(v_, kLaneKeys * value_depth);
  scratch.take(pairs_, kLaneKeys / 2 * std::max(sums, value_sums));
  scratch.take(values_turned_, value_sums * kLaneKeys / 2);
  if (backward_) {
    scratch.take(keys_turned_, sums * kLaneKeys / 2);
    factors_.row = round_up(lanes, kPairDepth);
    scratch.take(factors_.weights, kLaneKeys * factors_.row);
    scratch.take(factors_.dscores, kLaneKeys * factors_.row);
    scratch.take(factors_.dscore_pairs, kLaneKeys / 2 * lanes);
  }
  if (opened_) unit_.open();
}

Bf16Products::~Bf16Products() {
  if (opened_) unit_.close();
}

// The rows of a tile with pairs of numbers in words, zeros up to a multiple of kPairDepth of them.
Bf16Rows Bf16Products::tile_rows(const ConstView& view, const RowTile& tile, Index width) {
  const BFloat16* const at = view.as<BFloat16>() + view.offset({tile.b, tile.h, tile.rows.begin});
  const Index row = view.stride[2], depth = round_up(width, kPairDepth);
  const bool aligned = reinterpret_cast<std::uintptr_t>(at) % sizeof(Pairs) == 0;
  if (width == depth && row % 2 == 0 && aligned) return {at, row};
  for (Index r = 0; r < tile.rows.size(); ++r) copy_bf16_row(at + r * row, width, depth, rows_ + r * depth);
  return {rows_, depth};
}

void Bf16Products::pack(Bf16Rows rows, Index count, Index width, const LaneTile& tile, const Factors& to) {
  pairs_to_lanes(count, round_up(width, kPairDepth) / 2, rows.data, rows.row / 2, to.lanes, tile.lanes);
  if (backward_) unit_.pair_rows(rows.data, rows.row, count, width, to.rows, round_up(width, kPairRows));
}

void Bf16Products::read_tile(const LaneTile& tile, const ConstView& dout) {
  const Index count = tile.rows.rows.size();
  pack(tile_rows(c_.q, tile.rows, c_.width), count, c_.width, tile, q_[tile.nth]);
  if (dout) pack(tile_rows(dout, tile.rows, c_.value_width), count, c_.value_width, tile, dout_[tile.nth]);
}

// to[d, p]: numbers d of rows 2 p and 2 p + 1.
void Bf16Products::turn(Bf16Rows rows, Index width, Pairs* to) {
  const Index sums = round_up(width, kPairRows), words = round_up(count_, kPairDepth) / 2;
  unit_.pair_rows(rows.data, rows.row, count_, width, pairs_, sums);
  pairs_to_lanes(words, sums, pairs_, sums, to, words);
}

void Bf16Products::read_block(Index b, Index g, Range keys, Range, bool often) {
  count_ = keys.size();
  keys_ = bf16_block_rows(c_.k, b, g, keys, often, k_);
  if (backward_) turn(keys_, c_.width, keys_turned_);
  if (!c_.v) return;
  values_ = bf16_block_rows(c_.v, b, g, keys, often, v_);
  if (!backward_) turn(values_, c_.value_width, values_turned_);
}

void Bf16Products::lane_products(const Bf16Rows& rows, Index width, const Pairs* lanes, const LaneTile& tile,
                                 float* to) {
  unit_.multiply({.m = round_up(count_, kPairRows),
                  .n = tile.lanes,
                  .k = round_up(width, kPairDepth),
                  .a = rows.data,
                  .a_row = rows.row,
                  .b = lanes,
                  .b_row = tile.lanes,
                  .c = to,
                  .c_row = tile.lanes});
}

void Bf16Products::scores(const LaneTile& tile, const LanePart&, float* to) {
  lane_products(keys_, c_.width, q_[tile.nth].lanes, tile, to);
}

void Bf16Products::weight_gradients(const LaneTile& tile, const LanePart&, float* to) {
  lane_products(values_, c_.value_width, dout_[tile.nth].lanes, tile, to);
}

// to^T = to^T decay + turned of_keys, of pairs of keys [key / 2, lane].
void Bf16Products::add_lanes(const Pairs* turned, Index width, const LaneTile& tile, const Pairs* of_keys, float* sums,
                             AddedTo to, const float* decay) {
  const Index depth = round_up(count_, kPairDepth);
  unit_.multiply({.m = round_up(width, kPairRows),
                  .n = tile.lanes,
                  .k = depth,
                  .a = reinterpret_cast<const BFloat16*>(turned),
                  .a_row = depth,
                  .b = of_keys,
                  .b_row = tile.lanes,
                  .c = sums,
                  .c_row = tile.lanes,
                  .accumulate = to != AddedTo::nothing,
                  .decay = decay});
}

void Bf16Products::weigh(const LaneTile& tile, const kernels::AttentionLanes& block, std::span<const LanePart>,
                         float* scores) {
  normaliser_.add_pairs(block, scores, tile.sums());
}

void Bf16Products::add_values(const LaneTile& tile, const LanePart&, const float* weights) {
  add_lanes(values_turned_, c_.value_width, tile, reinterpret_cast<const Pairs*>(weights), tile.out_lanes,
            tile.started ? AddedTo::sums : AddedTo::nothing, tile.decay);
}

void Bf16Products::add_values_apart(const LaneTile&, const LanePart&, const float*, const float*) {
  fail("attention: the products in bf16 add no key by itself");
}

void Bf16Products::add_flow(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part,
                            const float* scores, const float* dweights) {
  normaliser_.narrow_flow(block, part, tile.stat(), scores, dweights, tile.delta());
}

void Bf16Products::differentiate(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart&,
                                 float* scores, float* dweights, float* dbias) {
  factors_.row = round_up(tile.lanes, kPairDepth);
  normaliser_.gradient_factors(block, tile.stat(), tile.delta(), static_cast<float>(c_.scale), scores, dweights, dbias,
                               factors_);
}

void Bf16Products::add_query_gradients(const LaneTile& tile, const LanePart&, const float*, AddedTo to) {
  add_lanes(keys_turned_, c_.width, tile, factors_.dscore_pairs, tile.dq_lanes, to, nullptr);
}

// sums[key] += sum over the rows of by_row[key, row] x[row], for x in pairs of rows.
void Bf16Products::add_rows(const BFloat16* by_row, const Pairs* rows, Index width, FloatRows sums, AddedTo to) {
  const Index depth = factors_.row, columns = round_up(width, kPairRows);
  unit_.multiply({.m = round_up(count_, kPairRows),
                  .n = columns,
                  .k = depth,
                  .a = by_row,
                  .a_row = depth,
                  .b = rows,
                  .b_row = columns,
                  .c = sums.data,
                  .c_row = sums.row,
                  .accumulate = to != AddedTo::nothing});
}

void Bf16Products::add_key_gradients(const LaneTile& tile, const LanePart&, const float*, FloatRows dk, AddedTo to) {
  add_rows(factors_.dscores, q_[tile.nth].rows, c_.width, dk, to);
}

void Bf16Products::add_value_gradients(const LaneTile& tile, const LanePart&, const float*, FloatRows dv, AddedTo to) {
  add_rows(factors_.weights, dout_[tile.nth].rows, c_.value_width, dv, to);
}

}  // namespace heed
