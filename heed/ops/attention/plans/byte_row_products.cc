#include "heed/ops/attention/plans/byte_row_products.h"

#include <algorithm>

#include "heed/kernels/lane_row.h"
#include "heed/ops/attention/plans/copied_rows.h"

namespace heed {

using kernels::kByteGroup;
using kernels::kByteKeys;
using kernels::kBytePlaces;
using kernels::kByteRows;
using kernels::kDigitLine;

namespace {
constexpr Index kWeightDigits = kBytePlaces * kByteKeys;  // of a row
}  // namespace

ByteRowProducts::ByteRowProducts(const AttentionProblem& c, Index rows, ScratchCut& scratch)
    : c_(c),
      unit_(kernels::byte_units().front()),
      row_(round_up(c.width, kDigitLine)),
      value_row_(round_up(c.value_width, kDigitLine)) {
  const Index most = round_up(rows, kByteRows);
  scratch.take(query_, c.width);
  scratch.take(query_digits_, kernels::digit_row_bytes(c.width));
  scratch.take(columns_, most / kByteRows * kernels::digit_columns(kByteRows, c.width));
  scratch.take(query_units_, most), scratch.take(weight_units_, most);
  scratch.take(weight_digits_, most * kWeightDigits);
  scratch.take(scales_, kByteKeys);
  scratch.take(k_, kByteKeys * row_), scratch.take(v_, kByteKeys * value_row_);
  scratch.take(added_, most * value_row_), scratch.take(out_, most * value_row_);
}

ByteRowProducts::~ByteRowProducts() {
  if (opened_) unit_.close();
}

void ByteRowProducts::begin(Index count) {
  count_ = count, opened_ = true;
  unit_.open(count);
  std::fill_n(weight_digits_, round_up(count, kByteRows) * kWeightDigits, std::int8_t{0});
  std::fill_n(query_units_, round_up(count, kByteRows), 0.0f);
  std::fill_n(weight_units_, round_up(count, kByteRows), 0.0f);
  std::fill_n(columns_, ceil_div(count, kByteRows) * kernels::digit_columns(count, c_.width), 0u);
  std::fill_n(out_, count * value_row_, 0.0f);
}

void ByteRowProducts::read_query(Index row, Index b, Index h, Index i) {
  const float* const q = float_rows(c_.q, b, h, {i, i + 1}, query_).data;
  kernels::DigitTerms terms;
  kernels::split_digits(q, c_.width, query_digits_, &terms);
  query_units_[row] = static_cast<float>(terms.unit);
  kernels::turn_digits(row % kByteRows, std::min(count_, kByteRows), query_digits_, c_.width,
                       columns_ + row / kByteRows * kernels::digit_columns(count_, c_.width));
}

// Where they lie, if that is in whole lines and groups; else a copy. What lies in no page is zeros.
kernels::StoredRows ByteRowProducts::block_rows(const RowsInTurn& turn, Index b, Index g, Range keys, std::int8_t* to) {
  const ConstView& view = turn.rows.view();
  const Index width = view.shape[3], row = round_up(width, kDigitLine);
  const RowSource::Run all = turn.rows.run(b, g, keys);
  kernels::StoredRows stored{.dtype = DType::i8, .count = keys.size(), .width = row};
  if (all.stored && all.rows == keys.size() && width == row && keys.size() % kByteGroup == 0) {
    stored.data = view.as<std::int8_t>() + all.offset, stored.row = all.stride;
    stored.scales = all.scales, stored.scale_row = all.scale_stride;
    ask_for_next(turn, b, g, keys, stored);
    return stored;
  }
  stored.data = to, stored.row = row, stored.scales = scales_, stored.scale_row = 1;
  copy_rows(turn.rows, b, g, keys, row, to);
  float* scale = scales_;
  for (Range rest = keys; !rest.empty();) {
    const RowSource::Run run = turn.rows.run(b, g, rest);
    for (Index n = 0; n < run.rows; ++n) *scale++ = run.stored ? run.scales[n * run.scale_stride] : 1.0f;
    rest.begin += run.rows;
  }
  return stored;
}

void ByteRowProducts::scores(Index b, Index g, Range keys, Range turn, Index end, float* to) {
  const kernels::StoredRows rows = block_rows({c_.k, turn, c_.v, turn.begin, end}, b, g, keys, k_);
  unit_.products(count_, columns_, query_units_, rows, static_cast<float>(c_.scale), {to, kByteKeys});
}

void ByteRowProducts::turn_to_values(Index b, Index g, Range keys, Range turn, Index end) {
  values_ = block_rows({c_.v, turn, c_.k, turn.end, end}, b, g, keys, v_);
}

void ByteRowProducts::add_values(const float* weights, const float* decays) {
  kernels::split_weights(count_, weights, values_, weight_digits_, weight_units_);
  unit_.sums(count_, weight_digits_, weight_units_, values_, {added_, value_row_});
  for (Index n = 0; n < count_; ++n) {
    kernels::decay_row(c_.value_width, decays[n], added_ + n * value_row_, out_ + n * value_row_);
  }
}

}  // namespace heed
