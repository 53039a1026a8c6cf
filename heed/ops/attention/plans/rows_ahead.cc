#include "heed/ops/attention/plans/rows_ahead.h"

#include <algorithm>

namespace heed {

void RowsAhead::add(const ConstView& view, Index offset, Index stride, Index rows) {
  constexpr Index kLine = 64;
  const Index size = size_of(view.dtype);
  Index lines = ceil_div(view.shape[3] * size, kLine);
  const char* row = static_cast<const char*>(view.data) + offset * size;
  const char** to = addresses_.data() + count_;
  rows = std::min(rows, (kMost - count_) / std::max<Index>(lines, 1));
  if (stride * size == lines * kLine) lines *= rows, rows = std::min<Index>(rows, 1);  // one run, written faster
  for (Index r = 0; r < rows; ++r, row += stride * size, to += lines)
    for (Index n = 0; n < lines; ++n) to[n] = row + n * kLine;
  count_ += rows * lines;
  lines_ = {addresses_.data(), count_};
}

void RowsAhead::expect(const ConstView& view, Index b, Index h, Range rows) {
  if (!rows.empty()) add(view, view.offset({b, h, rows.begin}), view.stride[2], rows.size());
}

void RowsAhead::expect(const RowSource& source, Index b, Index g, Range keys) {
  while (!keys.empty()) {
    const RowSource::Run run = source.run(b, g, keys);
    if (run.stored) add(source.view(), run.offset, run.stride, run.rows);
    keys.begin += run.rows;
  }
}

}  // namespace heed
