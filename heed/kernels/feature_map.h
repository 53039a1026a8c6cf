// The feature maps of linear attention over rows of f32, and their gradients. x, y and dx have their rows at any
// distance; features that a map fills, and dy, are contiguous.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// y = elu(x) + 1: x + 1 above zero, exp(x) elsewhere (Katharopoulos et al. 2020, eq. 7). y [rows, width].
void elu_plus_one_rows(Index rows, Index width, const float* x, Index x_row, float* y);
// y = max(x, 0).
void relu_rows(Index rows, Index width, const float* x, Index x_row, float* y);

// dx from dy, where y is what the map gave. dx may be dy.
void elu_plus_one_gradient_rows(Index rows, Index width, const float* y, const float* dy, float* dx, Index dx_row);
void relu_gradient_rows(Index rows, Index width, const float* y, const float* dy, float* dx, Index dx_row);

// Positive random features (Choromanski et al. 2021, eq. 5) of x' = root_scale x: y = exp(projection x' - |x'|^2 / 2) /
// sqrt(features), y [rows, features]. The exponent, whose rounding a feature multiplies, is summed in double.
struct RandomProjection {
  Index width, features;
  const double* by_input;  // [width, features], the projection's transpose
  double root_scale;
};
void positive_random_rows(const RandomProjection& projection, Index rows, const float* x, Index x_row, float* y);

// The gradient is dx = root_scale (projection^T flow - x' sum(flow)) with flow = dy y: this fills flow, in place of dy
// [rows, features], and its sum for each row.
void positive_random_flow_rows(Index rows, Index features, const float* y, float* dy, float* sums);
// And this dx, which on entry is projection^T flow.
void positive_random_gradient_rows(Index rows, Index width, const float* x, Index x_row, const float* sums,
                                   float root_scale, float* dx, Index dx_row);

}  // namespace heed::kernels
