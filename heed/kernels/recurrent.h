// One row of a recurrent cell: everything of a step but its matrix products. H is the number of units; [3 H] arrays
// hold their gates one after the other. Outputs may be the inputs of the same length (h may be h_prev).
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// r = sigmoid(x_r + u_r), z = sigmoid(x_z + u_z), n = tanh(x_n + r u_n), h = n + z (h_prev - n). gates_x = (x_r, x_z,
// x_n) and gates_h = (u_r, u_z, u_n); saved = (r, z, n, u_n), or null.
void gru_row(Index units, const float* gates_x, const float* gates_h, const float* h_prev, float* h, float* saved);
// dgates_x = (dr, dz, dn), dgates_h = (dr, dz, r dn), dh_prev = z dh (not wanted: null).
void gru_row_backward(Index units, const float* saved, const float* h_prev, const float* dh, float* dgates_x,
                      float* dgates_h, float* dh_prev);

// The GRU whose reset gate acts before the matrix product, in the two steps around that product. saved is (r, z, n).
// r and z as above from gates_h = (u_r, u_z), reset_h = r h_prev.
void gru_reset_row(Index units, const float* gates_x, const float* gates_h, const float* h_prev, float* reset_h,
                   float* saved);
// n = tanh(x_n + candidate_h), h = n + z (h_prev - n).
void gru_update_row(Index units, const float* gates_x, const float* candidate_h, const float* h_prev, float* h,
                    float* saved);
// dgates = (untouched, dz, dn), dh_prev = z dh (not wanted: null).
void gru_update_row_backward(Index units, const float* saved, const float* h_prev, const float* dh, float* dgates,
                             float* dh_prev);
// dgates = (dr, untouched, untouched), dh_prev += r dreset_h (not wanted: null).
void gru_reset_row_backward(Index units, const float* saved, const float* h_prev, const float* dreset_h, float* dgates,
                            float* dh_prev);

// With a = gates_x + gates_h = (a_i, a_f, a_g, a_o) and peepholes (p_i, p_f, p_o), null for zeros:
// i = sigmoid(a_i + p_i c_prev), f = sigmoid(a_f + p_f c_prev), g = tanh(a_g), c = f c_prev + i g, o = sigmoid(a_o +
// p_o c), h = o tanh(c). saved = (i, f, g, o, tanh(c)), or null. A null gates_h is zero.
void lstm_row(Index units, const float* gates_x, const float* gates_h, const float* peepholes, const float* c_prev,
              float* h, float* c, float* saved);
// dgates = (di, df, dg, do); null dh and dc are zero; null dc_prev: not wanted.
void lstm_row_backward(Index units, const float* saved, const float* peepholes, const float* c_prev, const float* dh,
                       const float* dc, float* dgates, float* dc_prev);

// h = tanh(gates_x + gates_h), and dgates = (1 - h^2) dh. A null gates_h is zero.
void rnn_row(Index units, const float* gates_x, const float* gates_h, float* h);
void rnn_row_backward(Index units, const float* h, const float* dh, float* dgates);

}  // namespace heed::kernels
