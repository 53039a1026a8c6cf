// The rows of recurrent cells in double, as plain loops: the definition that the kernels of heed/kernels/recurrent.h
// are held against. The two overload each other here, so that a template calls either.
#pragma once

#include "heed/base/index.h"
#include "heed/kernels/recurrent.h"

namespace heed {

using kernels::gru_reset_row;
using kernels::gru_reset_row_backward;
using kernels::gru_row;
using kernels::gru_row_backward;
using kernels::gru_update_row;
using kernels::gru_update_row_backward;
using kernels::lstm_row;
using kernels::lstm_row_backward;
using kernels::rnn_row;
using kernels::rnn_row_backward;

void gru_row(Index units, const double* gates_x, const double* gates_h, const double* h_prev, double* h,
             double* saved) noexcept;
void gru_row_backward(Index units, const double* saved, const double* h_prev, const double* dh, double* dgates_x,
                      double* dgates_h, double* dh_prev) noexcept;
void gru_reset_row(Index units, const double* gates_x, const double* gates_h, const double* h_prev, double* reset_h,
                   double* saved) noexcept;
void gru_update_row(Index units, const double* gates_x, const double* candidate_h, const double* h_prev, double* h,
                    double* saved) noexcept;
void gru_update_row_backward(Index units, const double* saved, const double* h_prev, const double* dh, double* dgates,
                             double* dh_prev) noexcept;
void gru_reset_row_backward(Index units, const double* saved, const double* h_prev, const double* dreset_h,
                            double* dgates, double* dh_prev) noexcept;
void lstm_row(Index units, const double* gates_x, const double* gates_h, const double* peepholes, const double* c_prev,
              double* h, double* c, double* saved) noexcept;
void lstm_row_backward(Index units, const double* saved, const double* peepholes, const double* c_prev,
                       const double* dh, const double* dc, double* dgates, double* dc_prev) noexcept;
void rnn_row(Index units, const double* gates_x, const double* gates_h, double* h) noexcept;
void rnn_row_backward(Index units, const double* h, const double* dh, double* dgates) noexcept;

}  // namespace heed
