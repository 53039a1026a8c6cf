#include "heed/tensor/quantise_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/check.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/row_storage.h"

namespace heed {
namespace {

// One row; returns its scale.
float quantise_row(const std::vector<float>& row, std::int8_t* to) {
  constexpr int kMost = 127;  // -128 has no counterpart
  float largest = 0;
  bool finite = true;
  for (float x : row) finite &= std::isfinite(x), largest = std::max(largest, std::abs(x));
  const float scale = finite ? largest / kMost : std::numeric_limits<float>::quiet_NaN();
  if (!(scale > 0)) {
    std::fill_n(to, row.size(), std::int8_t{0});
    return scale;
  }
  std::transform(row.begin(), row.end(), to, [scale](float x) {
    const double steps = std::nearbyint(static_cast<double>(x) / static_cast<double>(scale));
    return static_cast<std::int8_t>(std::clamp<double>(steps, -kMost, kMost));
  });
  return scale;
}

// Whether `scales` has the shape of `rows` but for its last axis.
bool has_row_shape(const ConstView& scales, const ConstView& rows) {
  return scales.rank == rows.rank - 1 &&
         std::equal(rows.shape.begin(), rows.shape.begin() + scales.rank, scales.shape.begin());
}

}  // namespace

void quantise_rows(ConstView rows, View values, View scales) {
  check_operands("quantise_rows", {{"rows", rows}}, {{"values", values}, {"scales", scales}});
  HEED_CHECK(rows.rank >= 1 && is_floating(rows.dtype) && has_unit_rows(rows) && values.dtype == DType::i8 &&
                 same_shape(values, rows) && has_unit_rows(values) && scales.dtype == DType::f32 &&
                 has_row_shape(scales, rows),
             "quantise_rows: needs floating rows [..., N] and values i8 of the same shape, with stride 1 along "
             "the last axis, and scales f32 [...], but got {}, {} and {}",
             describe(rows), describe(values), describe(scales));
  if (scales.size() == 0) return;
  // What is not there has an extent of 1.
  const int last = rows.rank - 1;
  std::vector<float> row(static_cast<std::size_t>(rows.shape[last]));
  const auto offset = [last](const ConstView& view, const Shape& index) {
    Index sum = 0;
    for (int axis = 0; axis < last; ++axis) sum += index[axis] * view.stride[axis];
    return sum;
  };
  for (Shape index{}; index[0] < scales.shape[0];) {
    load_row(rows, offset(rows, index), rows.shape[last], row.data());
    scales.as<float>()[offset(scales, index)] = quantise_row(row, values.as<std::int8_t>() + offset(values, index));
    int axis = std::max(last - 1, 0);
    for (; ++index[axis] == scales.shape[axis] && axis > 0; --axis) index[axis] = 0;
  }
}

}  // namespace heed
