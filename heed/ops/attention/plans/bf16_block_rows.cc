#include "heed/ops/attention/plans/bf16_block_rows.h"

#include <algorithm>

#include "heed/ops/attention/plans/copied_rows.h"

namespace heed {

using kernels::kPairDepth;
using kernels::kPairRows;

void copy_bf16_row(const BFloat16* from, Index width, Index to_width, BFloat16* to) {
  std::copy_n(from, width, to);
  std::fill_n(to + width, to_width - width, BFloat16{});
}

Bf16Rows bf16_block_rows(const RowSource& source, Index b, Index g, Range keys, bool often, BFloat16* to) {
  const ConstView& view = source.view();
  const Index width = view.shape[3], depth = round_up(width, kPairDepth), count = keys.size();
  const RowSource::Run all = source.run(b, g, keys);
  const bool whole = width == depth && count % kPairRows == 0, near = !often || all.stride == width;
  if (all.stored && all.rows == count && whole && near) return {view.as<BFloat16>() + all.offset, all.stride};
  BFloat16* const at = copy_rows(source, b, g, keys, depth, to);
  std::fill_n(at, (round_up(count, kPairRows) - count) * depth, BFloat16{});
  return {to, depth};
}

}  // namespace heed
