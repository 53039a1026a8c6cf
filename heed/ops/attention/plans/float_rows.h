// Rows of q, k, v and their gradients as f32, wherever and in whatever type they lie.
#pragma once

#include <algorithm>

#include "heed/kernels/stored_rows.h"
#include "heed/ops/attention/problem/row_source.h"
#include "heed/tensor/view.h"

namespace heed {

// Rows of f32.
struct FloatRows {
  float* data = nullptr;
  Index row = 0;  // floats from row to row
};

// Fills rows with zeros.
inline void clear(FloatRows rows, Index count, Index width) {
  for (Index r = 0; r < count; ++r) std::fill_n(rows.data + r * rows.row, width, 0.0f);
}

// Whether rows can be read where they lie.
bool lies_as_floats(const RowSource& source);

// Rows of [B, H, L, D]: where they lie, or read into scratch, [rows, D]. `place`: of the first.
FloatRows float_rows(const ConstView& view, Index place, Index count, float* scratch);
FloatRows float_rows(const ConstView& view, Index b, Index h, Range rows, float* scratch);
FloatRows float_rows(const RowSource& source, Index b, Index g, Range keys, float* scratch);

// Stores rows of f32, rounded to the type of the [B, H, L, D] view. `place`: of the first.
void store_rows(FloatRows from, Index count, const View& to, Index place);
void store_rows(FloatRows from, const View& to, Index b, Index h, Range rows);

// Rows of a head that are read a block at a time, in turn with another's.
struct RowsInTurn {
  const RowSource& rows;
  Range now;  // these, and then
  const RowSource& other;
  Index then;  // that row of the other's, and more
  Index end;   // Those up to here are read in all.
};

// Has the kernels of stored rows ask for what is read after some of the rows of a head.
void ask_for_next(const RowsInTurn& turn, Index b, Index g, Range read, kernels::StoredRows& stored);

// The first of some keys: those that lie one after another, for the kernels of stored rows.
kernels::StoredRows stored_run(const RowsInTurn& turn, Index b, Index g, Range keys, float* scratch);
// Calls f(which, rows) for keys that lie one after another, as they lie; those in no page are zeros in scratch,
// [rows, D].
template <typename F>
void for_stored_rows(const RowsInTurn& turn, Index b, Index g, Range keys, float* scratch, const F& f) {
  while (!keys.empty()) {
    const kernels::StoredRows run = stored_run(turn, b, g, keys, scratch);
    const Range which{keys.begin, keys.begin + run.count};
    f(which, run);
    keys.begin = which.end;
  }
}

// Asks for rows that are read soon, unless they lie one after another: those a processor reads ahead by itself.
void prefetch(const ConstView& view, Index b, Index h, Range rows);
void prefetch(const RowSource& source, Index b, Index g, Range keys);

// Whether rows of a [B, H, L, D] view, or of an empty one, hold a NaN.
bool rows_have_nan(const ConstView& view, Index b, Index h, Range rows);

}  // namespace heed
