// Sums, products and joins of views.
//
//   add(x, sublayer, y);                           // a residual connection
//   concat({forward, backward}, states);           // [B, L, H] twice into [B, L, 2 H]
//
// Views are contiguous, f32 or f64, of one shape in one call, unless said otherwise; outputs may be inputs of their
// shape, whole. Results are overwritten; those of the functions that say += are accumulated. All throw heed::Error for
// other operands. A NaN in any input gives a NaN.
#pragma once

#include <span>

#include "heed/tensor/view.h"

namespace heed {

// y = a + b.
void add(ConstView a, ConstView b, View y);
// y = a - b.
void subtract(ConstView a, ConstView b, View y);
// y = a b.
void multiply(ConstView a, ConstView b, View y);
// y = s x.
void scale(ConstView x, double s, View y);
// y += x.
void add_to(ConstView x, View y);
// y += s x.
void add_scaled_to(ConstView x, double s, View y);
// y += a b.
void add_product_to(ConstView a, ConstView b, View y);

// y[r, :] = x[r, :] + row: a bias, or position embeddings where each row is a whole sentence [L * D]. x and y are read
// as rows of width row.size().
void add_row(ConstView x, ConstView row, View y);
// sum += the sum of x's rows, in row order: the gradient of add_row's row. x is read as rows of width sum.size().
void sum_rows_to(ConstView x, View sum);

// Joins the parts along the last axis: y [..., sum of widths] = parts [..., width]. Parts and y may have strides (such
// as a step of a sequence), as long as the last axis has stride 1. The other extents agree, and no part lies in y.
void concat(std::span<const ConstView> parts, View y);
// Undoes concat: copies the columns of x into the parts, from left to right.
void split(ConstView x, std::span<const View> parts);

}  // namespace heed
