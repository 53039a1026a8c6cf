#include "heed/ops/attention/plans/float_products.h"

#include <algorithm>

#include "heed/kernels/attention_apart.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/plans/fused.h"

namespace heed {
namespace {

using kernels::kLaneKeys;

// The rows one after another, in `to` if they lie elsewhere.
FloatRows gathered(FloatRows rows, Index count, Index width, float* to) {
  if (rows.row == width) return rows;
  for (Index r = 0; r < count; ++r) std::copy_n(rows.data + r * rows.row, width, to + r * width);
  return {to, width};
}

// A product as it is, alpha 1 and nothing beside it, whose b is unit-strided.
void add_product(kernels::GemmTile product, AddedTo to) {
  if (to == AddedTo::sums_apart) {
    kernels::add_products_apart({.m = product.m,
                                 .n = product.n,
                                 .k = product.k,
                                 .a = product.a,
                                 .b = product.b.data,
                                 .b_row = product.b.row,
                                 .c = product.c,
                                 .c_row = product.c_row});
    return;
  }
  product.accumulate = to == AddedTo::sums;
  kernels::gemm_tile(product);
}

bool shares_cache_set(FloatRows rows) {
  return rows.row != 0 && rows.row * static_cast<Index>(sizeof(float)) % 4096 == 0;
}

}  // namespace

FloatProducts::FloatProducts(const AttentionProblem& c, AttentionTask::Pass pass, Index tiles, ScratchCut& scratch)
    : c_(c),
      score_(*tile_score(c.spec.score.kind)),
      normaliser_(*lane_normaliser(c.spec.normaliser.kind)),
      rows_(most_lanes(c)) {
  const bool backward = pass == AttentionTask::Pass::backward;
  const Index block = std::min(std::max<Index>(c.keys, 1), kLaneKeys);
  scratch.take(tiles_, tiles);
  scratch.take(k_, block * c.width);
  scratch.take(v_, block * c.value_width);
  scratch.take(q_lanes_, tiles * rows_ * c.width);
  if (c.dtype != DType::f32 || backward || score_.map != nullptr) scratch.take(q_rows_, tiles * rows_ * c.width);
  if (!backward) return;
  scratch.take(dout_lanes_, tiles * rows_ * c.value_width);
  scratch.take(dout_rows_, tiles * rows_ * c.value_width);
}

void FloatProducts::read_tile(const LaneTile& tile, const ConstView& dout) {
  const auto& [b, h, range] = tile.rows;
  const Index count = range.size(), at = tile.nth * rows_;
  Factors& x = tiles_[tile.nth];
  x.q_lanes = q_lanes_ + at * c_.width;
  float* const q_rows = q_rows_ == nullptr ? nullptr : q_rows_ + at * c_.width;  // null: they are read where they lie
  x.q = mapped_rows(score_, count, c_.width, float_rows(c_.q, b, h, range, q_rows), q_rows);
  if (dout) {
    x.dout_lanes = dout_lanes_ + at * c_.value_width;
    float* const dout_rows = dout_rows_ + at * c_.value_width;
    x.dout = float_rows(dout, b, h, range, dout_rows);
    if (c_.keys > kLaneKeys) {  // several blocks meet them as rows
      x.q = gathered(x.q, count, c_.width, q_rows);
      x.dout = gathered(x.dout, count, c_.value_width, dout_rows);
    }
    kernels::rows_to_lanes(count, c_.value_width, x.dout.data, x.dout.row, x.dout_lanes, tile.lanes);
  }
  kernels::rows_to_lanes(count, c_.width, x.q.data, x.q.row, x.q_lanes, tile.lanes);
}

// Rows that several tiles read are brought together first: heads lie beside one another, so that each row of one is
// in a page of its own. So are rows that are whole pages apart, which have one set of the first cache to share.
void FloatProducts::read_block(Index b, Index g, Range keys, Range next, bool often) {
  const Index count = keys.size();
  ahead_.clear();
  ahead_.expect(c_.k, b, g, next);
  if (c_.v) ahead_.expect(c_.v, b, g, next);
  keys_ = mapped_rows(score_, count, c_.width, float_rows(c_.k, b, g, keys, k_), k_);
  if (often || shares_cache_set(keys_)) keys_ = gathered(keys_, count, c_.width, k_);
  if (!c_.v) return;
  values_ = float_rows(c_.v, b, g, keys, v_);
  if (often || shares_cache_set(values_)) values_ = gathered(values_, count, c_.value_width, v_);
}

void FloatProducts::scores(const LaneTile& tile, const LanePart& part, float* to) {
  const Index key = part.first_key, lane = part.first_lane;
  kernels::in_chains({.m = part.keys(),
                      .n = part.lanes(),
                      .k = c_.width,
                      .a = {keys_.data + key * keys_.row, keys_.row},
                      .b = {tiles_[tile.nth].q_lanes + lane, tile.lanes},
                      .c = to + key * tile.lanes + lane,
                      .c_row = tile.lanes,
                      .alpha = static_cast<float>(c_.scale)},
                     [&](const kernels::GemmTile& chain) { kernels::gemm_tile_ahead(chain, ahead_.lines()); });
}

void FloatProducts::weight_gradients(const LaneTile& tile, const LanePart& part, float* to) {
  const Index key = part.first_key, lane = part.first_lane;
  kernels::in_chains({.m = part.keys(),
                      .n = part.lanes(),
                      .k = c_.value_width,
                      .a = {values_.data + key * values_.row, values_.row},
                      .b = {tiles_[tile.nth].dout_lanes + lane, tile.lanes},
                      .c = to + key * tile.lanes + lane,
                      .c_row = tile.lanes},
                     kernels::gemm_tile);
}

void FloatProducts::weigh(const LaneTile& tile, const kernels::AttentionLanes& block, std::span<const LanePart> parts,
                          float* scores) {
  normaliser_.add(block, parts, scores, tile.sums());
}

void FloatProducts::add_values(const LaneTile& tile, const LanePart& part, const float* weights) {
  const Index key = part.first_key, lane = part.first_lane;
  kernels::gemm_tile_ahead({.m = c_.value_width,
                            .n = part.lanes(),
                            .k = part.keys(),
                            .a = {values_.data + key * values_.row, 1, values_.row},
                            .b = {weights + key * tile.lanes + lane, tile.lanes},
                            .c = tile.out_lanes + lane,
                            .c_row = tile.lanes,
                            .accumulate = tile.started,
                            .decay = tile.decay + lane},
                           ahead_.lines());
}

void FloatProducts::add_values_apart(const LaneTile& tile, const LanePart& part, const float* weights,
                                     const float* decays) {
  const Index key = part.first_key, at = key * tile.lanes + part.first_lane;
  kernels::add_products_apart({.m = c_.value_width,
                               .n = part.lanes(),
                               .k = part.keys(),
                               .a = {values_.data + key * values_.row, 1, values_.row},
                               .b = weights + at,
                               .b_row = tile.lanes,
                               .decays = decays + at,
                               .c = tile.out_lanes + part.first_lane,
                               .c_row = tile.lanes});
}

void FloatProducts::add_flow(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part,
                             const float* scores, const float* dweights) {
  normaliser_.flow(block, part, tile.stat(), scores, dweights, tile.delta());
}

void FloatProducts::differentiate(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part,
                                  float* scores, float* dweights, float* dbias) {
  normaliser_.gradients(block, part, tile.stat(), tile.delta(), static_cast<float>(c_.scale), scores, dweights, dbias);
}

void FloatProducts::add_query_gradients(const LaneTile& tile, const LanePart& part, const float* dscores, AddedTo to) {
  const Index key = part.first_key, lane = part.first_lane;
  add_product({.m = c_.width,
               .n = part.lanes(),
               .k = part.keys(),
               .a = {keys_.data + key * keys_.row, 1, keys_.row},
               .b = {dscores + key * tile.lanes + lane, tile.lanes},
               .c = tile.dq_lanes + lane,
               .c_row = tile.lanes},
              to);
}

void FloatProducts::add_key_gradients(const LaneTile& tile, const LanePart& part, const float* dscores, FloatRows dk,
                                      AddedTo to) {
  add_rows(tile, part, dscores, tiles_[tile.nth].q, c_.width, dk, to);
}

void FloatProducts::add_value_gradients(const LaneTile& tile, const LanePart& part, const float* weights, FloatRows dv,
                                        AddedTo to) {
  add_rows(tile, part, weights, tiles_[tile.nth].dout, c_.value_width, dv, to);
}

// sums[key] += sum over the rows of by_row[key, row] x[row].
void FloatProducts::add_rows(const LaneTile& tile, const LanePart& part, const float* by_row, FloatRows x, Index width,
                             FloatRows sums, AddedTo to) const {
  const Index key = part.first_key, row = part.first_lane;
  add_product({.m = part.keys(),
               .n = width,
               .k = std::min(part.end_lane, tile.rows.rows.size()) - row,
               .a = {by_row + key * tile.lanes + row, tile.lanes},
               .b = {x.data + row * x.row, x.row},
               .c = sums.data + key * sums.row,
               .c_row = sums.row},
              to);
}

void FloatProducts::map_query_gradients(const LaneTile& tile, FloatRows dq) {
  if (score_.map_gradients == nullptr) return;
  const auto& [b, h, rows] = tile.rows;
  float* const q_rows = q_rows_ + tile.nth * rows_ * c_.width;
  score_.map_gradients(rows.size(), c_.width, float_rows(c_.q, b, h, rows, q_rows), dq);
}

void FloatProducts::map_key_gradients(Index b, Index g, Range of, FloatRows dk) {
  for (Index begin = of.begin; score_.map_gradients != nullptr && begin < of.end; begin += kLaneKeys) {
    const Range keys{begin, std::min(of.end, begin + kLaneKeys)};
    score_.map_gradients(keys.size(), c_.width, float_rows(c_.k, b, g, keys, k_),
                         {dk.data + (begin - of.begin) * dk.row, dk.row});
  }
}

}  // namespace heed
