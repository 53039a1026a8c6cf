// Rows between the type they are stored in and the type they are computed in: 16-bit types are storage only.
//
//   load_row(x, x.offset({b, h, i}), width, row);      // to float or double
//   store_row(row, width, y, y.offset({b, h, i}));
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// f32, f64, bf16 or f16.
bool is_floating(DType dtype);

// Whether a view's rows, along its last axis, are without gaps, so that the functions below can read and write them.
bool has_unit_rows(const ConstView& view);

// Reads `count` elements that follow each other from element `offset` of a floating view. C: float or double.
template <typename C>
void load_row(const ConstView& from, Index offset, Index count, C* to);

// Writes them, rounded to nearest, ties to even.
template <typename C>
void store_row(const C* from, Index count, const View& to, Index offset);

}  // namespace heed
