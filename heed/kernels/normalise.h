// Layer normalisation and root-mean-square normalisation of rows.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// y[r, j] = gamma[j] (x[r, j] - mean_r) rstd_r + beta[j] with rstd_r = 1 / sqrt(mean_j((x[r, j] - mean_r)^2) + eps);
// where not centred, mean_r is 0 (root-mean-square). Null gamma: ones; null beta: zeros; null mean and rstd: not
// wanted.
template <typename T>
struct NormaliseRows {
  const T* x;
  const T* gamma;
  const T* beta;
  T* y;
  T* mean;
  T* rstd;
  Index rows;
  Index width;
  double eps;
  bool centred;
};

// With x^ = (x - mean) rstd and g = gamma dy: dx = rstd (g - mean_j(g) - x^ mean_j(g x^)), without the middle term
// where not centred; dgamma += sum_r dy x^ and dbeta += sum_r dy, rows in order. A null mean is 0; null dx, dgamma and
// dbeta are not wanted.
template <typename T>
struct NormaliseRowsBackward {
  const T* x;
  const T* gamma;
  const T* mean;
  const T* rstd;
  const T* dy;
  T* dx;
  T* dgamma;
  T* dbeta;
  Index rows;
  Index width;
  bool centred;
};

// y may be x; dx may be dy. A row's result depends on that row alone.
void normalise_rows(const NormaliseRows<float>& operands);
void normalise_rows_backward(const NormaliseRowsBackward<float>& operands);

}  // namespace heed::kernels
