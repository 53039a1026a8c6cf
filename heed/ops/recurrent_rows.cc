#include "heed/ops/recurrent_rows.h"

#include <cmath>

#include "heed/ops/sigmoid.h"

namespace heed {
namespace {

// The derivatives of the sigmoid and of tanh from their values.
double sigmoid_slope(double s) { return s * (1 - s); }
double tanh_slope(double t) { return 1 - t * t; }

// A null array is zero.
double value(const double* array, Index i) { return array != nullptr ? array[i] : 0; }

}  // namespace

void gru_row(Index units, const double* gates_x, const double* gates_h, const double* h_prev, double* h,
             double* saved) noexcept {
  for (Index j = 0; j < units; ++j) {
    const double r = sigmoid(gates_x[j] + gates_h[j]);
    const double z = sigmoid(gates_x[units + j] + gates_h[units + j]);
    const double u = gates_h[2 * units + j];
    const double n = std::tanh(gates_x[2 * units + j] + r * u);
    h[j] = (1 - z) * n + z * h_prev[j];
    if (saved == nullptr) continue;
    saved[j] = r;
    saved[units + j] = z;
    saved[2 * units + j] = n;
    saved[3 * units + j] = u;
  }
}

void gru_row_backward(Index units, const double* saved, const double* h_prev, const double* dh, double* dgates_x,
                      double* dgates_h, double* dh_prev) noexcept {
  for (Index j = 0; j < units; ++j) {
    const double r = saved[j], z = saved[units + j], n = saved[2 * units + j], u = saved[3 * units + j];
    const double upstream = dh[j];
    const double dz = upstream * (h_prev[j] - n) * sigmoid_slope(z);
    const double dn = upstream * (1 - z) * tanh_slope(n);
    dgates_x[j] = dgates_h[j] = dn * u * sigmoid_slope(r);
    dgates_x[units + j] = dgates_h[units + j] = dz;
    dgates_x[2 * units + j] = dn;
    dgates_h[2 * units + j] = dn * r;
    if (dh_prev != nullptr) dh_prev[j] = upstream * z;
  }
}

void gru_reset_row(Index units, const double* gates_x, const double* gates_h, const double* h_prev, double* reset_h,
                   double* saved) noexcept {
  for (Index j = 0; j < units; ++j) {
    saved[j] = sigmoid(gates_x[j] + gates_h[j]);
    saved[units + j] = sigmoid(gates_x[units + j] + gates_h[units + j]);
    reset_h[j] = saved[j] * h_prev[j];
  }
}

void gru_update_row(Index units, const double* gates_x, const double* candidate_h, const double* h_prev, double* h,
                    double* saved) noexcept {
  for (Index j = 0; j < units; ++j) {
    const double z = saved[units + j], n = std::tanh(gates_x[2 * units + j] + candidate_h[j]);
    h[j] = (1 - z) * n + z * h_prev[j];
    saved[2 * units + j] = n;
  }
}

void gru_update_row_backward(Index units, const double* saved, const double* h_prev, const double* dh, double* dgates,
                             double* dh_prev) noexcept {
  for (Index j = 0; j < units; ++j) {
    const double z = saved[units + j], n = saved[2 * units + j], upstream = dh[j];
    dgates[units + j] = upstream * (h_prev[j] - n) * sigmoid_slope(z);
    dgates[2 * units + j] = upstream * (1 - z) * tanh_slope(n);
    if (dh_prev != nullptr) dh_prev[j] = upstream * z;
  }
}

void gru_reset_row_backward(Index units, const double* saved, const double* h_prev, const double* dreset_h,
                            double* dgates, double* dh_prev) noexcept {
  for (Index j = 0; j < units; ++j) {
    dgates[j] = dreset_h[j] * h_prev[j] * sigmoid_slope(saved[j]);
    if (dh_prev != nullptr) dh_prev[j] += dreset_h[j] * saved[j];
  }
}

void lstm_row(Index units, const double* gates_x, const double* gates_h, const double* peepholes, const double* c_prev,
              double* h, double* c, double* saved) noexcept {
  const auto argument = [&](Index part, Index j) {
    return gates_x[part * units + j] + value(gates_h, part * units + j);
  };
  const auto peephole = [&](Index part, Index j, double state) {
    return peepholes != nullptr ? peepholes[part * units + j] * state : 0;
  };
  for (Index j = 0; j < units; ++j) {
    const double before = c_prev[j];
    const double i = sigmoid(argument(0, j) + peephole(0, j, before));
    const double f = sigmoid(argument(1, j) + peephole(1, j, before));
    const double g = std::tanh(argument(2, j));
    const double after = f * before + i * g;
    const double o = sigmoid(argument(3, j) + peephole(2, j, after));
    const double t = std::tanh(after);
    c[j] = after;
    h[j] = o * t;
    if (saved == nullptr) continue;
    saved[j] = i;
    saved[units + j] = f;
    saved[2 * units + j] = g;
    saved[3 * units + j] = o;
    saved[4 * units + j] = t;
  }
}

void lstm_row_backward(Index units, const double* saved, const double* peepholes, const double* c_prev,
                       const double* dh, const double* dc, double* dgates, double* dc_prev) noexcept {
  for (Index j = 0; j < units; ++j) {
    const double i = saved[j], f = saved[units + j], g = saved[2 * units + j], o = saved[3 * units + j];
    const double t = saved[4 * units + j], upstream = value(dh, j);
    const double d_o = upstream * t * sigmoid_slope(o);
    const double d_c = value(dc, j) + upstream * o * tanh_slope(t) + d_o * value(peepholes, 2 * units + j);
    const double d_i = d_c * g * sigmoid_slope(i);
    const double d_f = d_c * c_prev[j] * sigmoid_slope(f);
    dgates[j] = d_i;
    dgates[units + j] = d_f;
    dgates[2 * units + j] = d_c * i * tanh_slope(g);
    dgates[3 * units + j] = d_o;
    if (dc_prev != nullptr) dc_prev[j] = d_c * f + d_i * value(peepholes, j) + d_f * value(peepholes, units + j);
  }
}

void rnn_row(Index units, const double* gates_x, const double* gates_h, double* h) noexcept {
  for (Index j = 0; j < units; ++j) h[j] = std::tanh(gates_x[j] + value(gates_h, j));
}

void rnn_row_backward(Index units, const double* h, const double* dh, double* dgates) noexcept {
  for (Index j = 0; j < units; ++j) dgates[j] = dh[j] * tanh_slope(h[j]);
}

}  // namespace heed
