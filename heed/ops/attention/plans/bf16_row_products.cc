#include "heed/ops/attention/plans/bf16_row_products.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/lane_layout.h"

namespace heed {

using kernels::kLaneKeys;
using kernels::kPairDepth;
using kernels::kPairRows;

Bf16RowProducts::Bf16RowProducts(const AttentionProblem& c, Index rows, ScratchCut& scratch)
    : c_(c),
      unit_(*kernels::pair_unit()),
      depth_(round_up(c.width, kPairDepth)),
      value_sums_(round_up(c.value_width, kPairRows)) {
  const Index most = round_up(rows, kPairRows), value_depth = round_up(c.value_width, kPairDepth);
  scratch.take(queries_, most * depth_);
  scratch.take(k_, kLaneKeys * depth_);
  scratch.take(v_, kLaneKeys * value_depth);
  scratch.take(keys_turned_, depth_ / 2 * kLaneKeys);
  scratch.take(value_pairs_, kLaneKeys / 2 * value_sums_);
  scratch.take(by_row_, most * kLaneKeys);
  scratch.take(rounded_, most * kLaneKeys);
  scratch.take(out_, most * value_sums_);
}

Bf16RowProducts::~Bf16RowProducts() {
  if (opened_) unit_.close();
}

void Bf16RowProducts::begin(Index count) {
  count_ = count, rows_ = round_up(count, unit_.rows), opened_ = true, started_ = false;
  reads_in_place(count) ? unit_.open_few_rows(count) : unit_.open();
  std::fill(queries_ + count * depth_, queries_ + round_up(count, kPairRows) * depth_, BFloat16{});
  std::fill(out_, out_ + round_up(count, kPairRows) * value_sums_, 0.0f);
}

void Bf16RowProducts::read_query(Index row, Index b, Index h, Index i) {
  copy_bf16_row(c_.q.as<BFloat16>() + c_.q.offset({b, h, i}), c_.width, depth_, queries_ + row * depth_);
}

kernels::StoredRows Bf16RowProducts::block_rows(const RowsInTurn& turn, Index b, Index g, Range keys,
                                                BFloat16* to) const {
  const Bf16Rows rows = bf16_block_rows(turn.rows, b, g, keys, false, to);
  kernels::StoredRows stored{.data = rows.data,
                             .dtype = DType::bf16,
                             .count = keys.size(),
                             .width = round_up(turn.rows.view().shape[3], kPairDepth),
                             .row = rows.row};
  if (rows.data != to) ask_for_next(turn, b, g, keys, stored);
  return stored;
}

void Bf16RowProducts::scores(Index b, Index g, Range keys, Range turn, Index end, float* to) {
  const kernels::StoredRows rows = block_rows({c_.k, turn, c_.v, turn.begin, end}, b, g, keys, k_);
  const float scale = static_cast<float>(c_.scale);
  if (reads_in_place(count_)) return unit_.row_products(count_, queries_, depth_, rows, scale, {to, kLaneKeys});
  // Rows are turned sixteen at a time, which is no order in which memory reads ahead, and as floats, as which they need
  // not lie: they are copied first, one after the other.
  if (rows.data != k_) {
    for (Index key = 0; key < rows.count; ++key)
      copy_bf16_row(static_cast<const BFloat16*>(rows.data) + key * rows.row, depth_, depth_, k_ + key * depth_);
  }
  kernels::rows_to_lanes(rows.count, depth_ / 2, reinterpret_cast<const float*>(k_), depth_ / 2,
                         reinterpret_cast<float*>(keys_turned_), kLaneKeys);
  unit_.multiply({.m = rows_,
                  .n = kLaneKeys,
                  .k = depth_,
                  .a = queries_,
                  .a_row = depth_,
                  .b = keys_turned_,
                  .b_row = kLaneKeys,
                  .c = by_row_,
                  .c_row = kLaneKeys,
                  .alpha = scale});
  std::copy_n(by_row_, count_ * kLaneKeys, to);
}

void Bf16RowProducts::turn_to_values(Index b, Index g, Range keys, Range turn, Index end) {
  values_ = block_rows({c_.v, turn, c_.k, turn.end, end}, b, g, keys, v_);
}

void Bf16RowProducts::add_values(const float* weights, const float* decays) {
  const kernels::StoredRows& rows = values_;
  const Index depth = round_up(rows.count, kPairDepth);
  for (Index row = 0; row < count_; ++row) {
    float* const own = by_row_ + row * kLaneKeys;
    std::fill(std::copy_n(weights + row * kLaneKeys, rows.count, own), own + depth, 0.0f);
  }
  unit_.round_rows(by_row_, count_, kLaneKeys, rounded_, kLaneKeys);
  const bool first = !std::exchange(started_, true);
  if (reads_in_place(count_))
    return unit_.row_sums(count_, rounded_, kLaneKeys, rows, first ? nullptr : decays, {out_, value_sums_});
  unit_.pair_rows(static_cast<const BFloat16*>(rows.data), rows.row, rows.count, c_.value_width, value_pairs_,
                  value_sums_);
  for (Index row = 0; !first && row < count_; ++row) {
    if (decays[row] == 1) continue;
    for (Index d = 0; d < value_sums_; ++d) out_[row * value_sums_ + d] *= decays[row];
  }
  unit_.multiply({.m = rows_,
                  .n = value_sums_,
                  .k = depth,
                  .a = rounded_,
                  .a_row = kLaneKeys,
                  .b = value_pairs_,
                  .b_row = value_sums_,
                  .c = out_,
                  .c_row = value_sums_,
                  .accumulate = !first});
}

}  // namespace heed
