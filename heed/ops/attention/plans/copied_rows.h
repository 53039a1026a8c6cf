// Rows of keys or values as they are stored, copied one after another for kernels that read whole lines and groups.
#pragma once

#include <algorithm>

#include "heed/ops/attention/problem/row_source.h"

namespace heed {

// Copies rows of a head, `to_row` numbers apart, with zeros behind each; those in no page are zeros. Returns where the
// next one would go.
template <typename Number>
Number* copy_rows(const RowSource& source, Index b, Index g, Range keys, Index to_row, Number* to) {
  const ConstView& view = source.view();
  const Index width = view.shape[3];
  while (!keys.empty()) {
    const RowSource::Run run = source.run(b, g, keys);
    keys.begin += run.rows;
    if (run.stored && run.stride == width && to_row == width) {
      to = std::copy_n(view.as<Number>() + run.offset, run.rows * width, to);
      continue;
    }
    for (Index n = 0; n < run.rows; ++n, to += to_row) {
      const Index there = run.stored ? width : 0;
      std::copy_n(view.as<Number>() + run.offset + n * run.stride, there, to);
      std::fill_n(to + there, to_row - there, Number{});
    }
  }
  return to;
}

}  // namespace heed
