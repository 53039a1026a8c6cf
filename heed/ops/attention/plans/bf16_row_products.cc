#include "heed/ops/attention/plans/bf16_row_products.h"

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/lane_layout.h"

namespace heed {

using kernels::kLaneKeys;
using kernels::kPairDepth;
using kernels::kPairRows;

Bf16RowProducts::Bf16RowProducts(const AttentionProblem& c, Index rows, ScratchCut& scratch)
    : c_(c),
      unit_(*kernels::pair_unit()),
      opened_(!scratch.measures()),
      depth_(round_up(c.width, kPairDepth)),
      value_depth_(round_up(c.value_width, kPairDepth)),
      value_sums_(round_up(c.value_width, kPairRows)) {
  const Index most = round_up(rows, kPairRows);
  scratch.take(queries_, most * depth_);
  scratch.take(k_, kLaneKeys * depth_);
  scratch.take(v_, kLaneKeys * value_depth_);
  scratch.take(keys_turned_, depth_ / 2 * kLaneKeys);
  scratch.take(value_pairs_, kLaneKeys / 2 * value_sums_);
  scratch.take(by_row_, most * kLaneKeys);
  scratch.take(rounded_, most * kLaneKeys);
  scratch.take(sums_, most * value_sums_);
  scratch.take(out_, most * value_sums_);
  if (opened_) unit_.open();
}

Bf16RowProducts::~Bf16RowProducts() {
  if (opened_) unit_.close();
}

void Bf16RowProducts::begin(Index count) {
  count_ = count, rows_ = round_up(count, unit_.rows), started_ = false;
  std::fill(queries_ + count * depth_, queries_ + round_up(count, kPairRows) * depth_, BFloat16{});
}

void Bf16RowProducts::read_query(Index row, const BFloat16* q) {
  copy_bf16_row(q, c_.width, depth_, queries_ + row * depth_);
}

void Bf16RowProducts::read_block(Index b, Index g, Range keys) {
  keys_ = keys.size();
  const Bf16Rows rows = bf16_block_rows(c_.k, b, g, keys, false, k_);
  // Rows are turned sixteen at a time, which is no order in which memory reads ahead, and as floats, as which they need
  // not lie: they are copied first, one after the other.
  if (rows.data != k_) {
    for (Index key = 0; key < keys_; ++key)
      copy_bf16_row(rows.data + key * rows.row, depth_, depth_, k_ + key * depth_);
  }
  kernels::rows_to_lanes(keys_, depth_ / 2, reinterpret_cast<const float*>(k_), depth_ / 2,
                         reinterpret_cast<float*>(keys_turned_), kLaneKeys);
  if (!c_.v) return;
  const Bf16Rows values = bf16_block_rows(c_.v, b, g, keys, false, v_);
  unit_.pair_rows(values.data, values.row, keys_, c_.value_width, value_pairs_, value_sums_);
}

void Bf16RowProducts::scores(Index lanes, float* to) {
  unit_.multiply({.m = rows_,
                  .n = kLaneKeys,
                  .k = depth_,
                  .a = queries_,
                  .a_row = depth_,
                  .b = keys_turned_,
                  .b_row = kLaneKeys,
                  .c = by_row_,
                  .c_row = kLaneKeys,
                  .alpha = static_cast<float>(c_.scale)});
  kernels::rows_to_lanes(count_, keys_, by_row_, kLaneKeys, to, lanes);
}

void Bf16RowProducts::add_values(Index lanes, const float* weights, const float* decay) {
  const Index depth = round_up(keys_, kPairDepth);
  kernels::lanes_to_rows(count_, keys_, weights, lanes, nullptr, by_row_, kLaneKeys);
  for (Index row = 0; row < count_; ++row) {
    std::fill(by_row_ + row * kLaneKeys + keys_, by_row_ + row * kLaneKeys + depth, 0.0f);
  }
  unit_.round_rows(by_row_, count_, kLaneKeys, rounded_, kLaneKeys);
  unit_.multiply({.m = rows_,
                  .n = value_sums_,
                  .k = depth,
                  .a = rounded_,
                  .a_row = kLaneKeys,
                  .b = value_pairs_,
                  .b_row = value_sums_,
                  .c = started_ ? sums_ : out_,
                  .c_row = value_sums_});
  if (started_) unit_.add_to_decayed_rows(sums_, count_, value_sums_, decay, out_);
  started_ = true;
}

}  // namespace heed
