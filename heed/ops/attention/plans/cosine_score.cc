// The cosine as a score: the dot product of rows of length one.
#include "heed/kernels/unit_rows.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

void map(Index rows, Index width, FloatRows x, FloatRows y) {
  kernels::unit_rows(rows, width, x.data, x.row, y.data, y.row);
}

void map_gradients(Index rows, Index width, FloatRows x, FloatRows dy) {
  kernels::unit_rows_backward(rows, width, x.data, x.row, dy.data, dy.row);
}

}  // namespace

const TileScore kCosineScore{.scaled = true,
                             .products = dot_products,
                             .gradients = dot_gradients,
                             .map = map,
                             .map_gradients = map_gradients,
                             .multiplies_rows = true};

}  // namespace heed
