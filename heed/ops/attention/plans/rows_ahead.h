// Rows that are read or written soon, as the lines of memory that products ask for while they compute.
//
//   ahead.expect(c.q, b, h, {64, 128});
//   kernels::gemm_tile_ahead(product, ahead.lines());
#pragma once

#include <array>

#include "heed/kernels/gemm_ahead.h"
#include "heed/ops/attention/problem/row_source.h"

namespace heed {

class RowsAhead {
 public:
  RowsAhead() = default;
  RowsAhead(const RowsAhead&) = delete;
  RowsAhead& operator=(const RowsAhead&) = delete;

  // Forgets what was expected and has not been asked for.
  void clear() { count_ = 0, lines_ = {}; }
  // Rows of a head, after those that are expected already; what is more than kMost lines is not asked for. Called
  // before anything is asked for.
  void expect(const ConstView& view, Index b, Index h, Range rows);
  void expect(const RowSource& source, Index b, Index g, Range keys);
  // What is left to ask for.
  kernels::LinesAhead& lines() { return lines_; }

 private:
  void add(const ConstView& view, Index offset, Index stride, Index rows);

  static constexpr Index kMost = 1024;
  std::array<const char*, kMost> addresses_;
  Index count_ = 0;
  kernels::LinesAhead lines_{};
};

}  // namespace heed
