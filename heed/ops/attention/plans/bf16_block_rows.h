// Rows of keys or of values, as a unit that multiplies pairs of bf16 reads them.
#pragma once

#include "heed/kernels/pair_unit.h"
#include "heed/ops/attention/problem/row_source.h"

namespace heed {

// Rows of bf16, with zeros up to a multiple of kernels::kPairDepth numbers.
struct Bf16Rows {
  const BFloat16* data = nullptr;
  Index row = 0;
};

// Copies a row, and zeros behind it.
void copy_bf16_row(const BFloat16* from, Index width, Index to_width, BFloat16* to);

// Those of a block: where they lie if that is in whole tiles of a unit, and for what is read often side by side; else
// in `to`, with zeros up to multiples, also of kernels::kPairRows rows.
Bf16Rows bf16_block_rows(const RowSource& source, Index b, Index g, Range keys, bool often, BFloat16* to);

}  // namespace heed
