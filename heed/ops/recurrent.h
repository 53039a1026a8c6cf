// One step of a recurrent network, without its matrix products: gates in, state out, and the way back.
//
//   linear(x, w_ih, b_ih, gates_x);                              // [B, 3 H], for all steps at once
//   linear(h_prev, w_hh, b_hh, gates_h);                         // [B, 3 H]
//   gru_cell({gates_x, gates_h, h_prev}, h, saved);
//   gru_cell_backward({.h_prev = h_prev}, saved, dh, {dgates_x, dgates_h, dh_prev});
//   gemm(dgates_h, w_hh, dh_prev, {.accumulate = true});         // the other way to h_prev
//
// B is the batch, H the number of units. Matrices [B, W] may lie in wider or longer ones (a step of [B, L, W] is
// select(all, 1, t)): the last axis has stride 1, rows any stride. All are f32, or all f64; `active` is boolean [B].
//
// A row that is not active carries its state on: h = h_prev (and c = c_prev), its gates get the gradient 0 and the
// previous state all of the gradient. That is how a shorter sentence of a batch waits, before it begins (in reverse) or
// after it has ended. An empty `active` means that all rows are.
//
// h may be h_prev, c may be c_prev, dh_prev may be dh, dc_prev may be dc, and an RNN's dgates may be dh; all else lies
// apart. Gradients are overwritten, unless accumulation is stated. A NaN in a unit's gates or state gives NaN in that
// unit. A row has the same bits in any batch and on any number of threads. All functions throw heed::Error for operands
// that do not fit.
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// GRU (Cho et al. 2014, with the reset gate after the matrix product as in PyTorch and cuDNN; ONNX linear_before_reset
// = 1).
struct GruStep {
  ConstView gates_x{};  // [B, 3 H]: (x_r, x_z, x_n) = W_ih x + b_ih
  ConstView gates_h{};  // [B, 3 H]: (u_r, u_z, u_n) = W_hh h_prev + b_hh
  ConstView h_prev{};   // [B, H]
  ConstView active{};   // [B], or empty
};

struct GruStepGrad {
  View dgates_x{};  // [B, 3 H]
  View dgates_h{};  // [B, 3 H]
  View dh_prev{};   // [B, H], without the way through gates_h; empty: not wanted
};

inline constexpr Index kGruSaved = 4;
inline constexpr Index kGruResetSaved = 3;
inline constexpr Index kLstmSaved = 5;

// r = sigmoid(x_r + u_r), z = sigmoid(x_z + u_z), n = tanh(x_n + r u_n), h = (1 - z) n + z h_prev.
// h [B, H]; saved [B, 4 H] for the gradient: (r, z, n, u_n), or empty.
void gru_cell(const GruStep& step, View h, View saved);
// Reads h_prev and active of the step.
void gru_cell_backward(const GruStep& step, ConstView saved, ConstView dh, const GruStepGrad& grad);

// The GRU of the original paper (v1; ONNX linear_before_reset = 0), whose reset gate acts before the matrix product, in
// two steps around that product:
//   gru_reset(step, reset_h, saved);                             // step.gates_h is [B, 2 H]: (u_r, u_z)
//   linear(reset_h, w_hn, b_hn, candidate_h);
//   gru_update(step, candidate_h, h, saved);
//   gru_update_backward(step, saved, dh, {dgates, dh_prev});     // dcandidate_h is the last third of dgates
//   gemm(dcandidate_h, w_hn, dreset_h);
//   gru_reset_backward(step, saved, dreset_h, {dgates, dh_prev});
// r, z as above, reset_h = r h_prev [B, H]; then n = tanh(x_n + candidate_h), h = (1 - z) n + z h_prev. saved [B, 3 H]:
// (r, z, n).
void gru_reset(const GruStep& step, View reset_h, View saved);
void gru_update(const GruStep& step, ConstView candidate_h, View h, View saved);

struct GruResetGrad {
  View dgates{};   // [B, 3 H], that of gates_x; its first two thirds are that of gates_h
  View dh_prev{};  // [B, H], without the way through gates_h; empty: not wanted
};

// Overwrites the parts z and n of dgates, and dh_prev with the update's part. Reads h_prev and active of the step.
void gru_update_backward(const GruStep& step, ConstView saved, ConstView dh, const GruResetGrad& grad);
// Overwrites the part r of dgates, and adds r dreset_h to dh_prev.
void gru_reset_backward(const GruStep& step, ConstView saved, ConstView dreset_h, const GruResetGrad& grad);

// LSTM (Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000), PyTorch's gate order; peepholes as
// in Gers and Schmidhuber 2000.
struct LstmStep {
  ConstView gates_x{};    // [B, 4 H]: the arguments of i, f, g, o from the input
  ConstView gates_h{};    // [B, 4 H]: those from h_prev; empty where gates_x holds the sum
  ConstView c_prev{};     // [B, H]
  ConstView h_prev{};     // [B, H]; needed only with `active`
  ConstView peepholes{};  // [3 H]: (p_i, p_f, p_o), or empty
  ConstView active{};     // [B], or empty
};

struct LstmStepGrad {
  View dgates{};      // [B, 4 H], of gates_x and of gates_h
  View dc_prev{};     // [B, H]; empty: not wanted
  View dh_prev{};     // [B, H]: dh in the rows that are not active, else 0; empty: not wanted
  View dpeepholes{};  // [3 H], accumulated, rows in order; empty: not wanted
};

// With a = gates_x + gates_h: i = sigmoid(a_i + p_i c_prev), f = sigmoid(a_f + p_f c_prev), g = tanh(a_g),
// c = f c_prev + i g, o = sigmoid(a_o + p_o c), h = o tanh(c).
// h, c [B, H]; saved [B, 5 H] for the gradient: (i, f, g, o, tanh(c)), or empty.
void lstm_cell(const LstmStep& step, View h, View c, View saved);
// Reads c_prev, peepholes and active of the step. dh, dc [B, H]: empty for zero, though not both. c, the step's result,
// is read only for dpeepholes.
void lstm_cell_backward(const LstmStep& step, ConstView c, ConstView saved, ConstView dh, ConstView dc,
                        const LstmStepGrad& grad);

// The simple network of Elman 1990: h = tanh(gates_x + gates_h).
struct RnnStep {
  ConstView gates_x{};  // [B, H]
  ConstView gates_h{};  // [B, H]; empty where gates_x holds the sum
  ConstView h_prev{};   // [B, H]; needed only with `active`
  ConstView active{};   // [B], or empty
};

struct RnnStepGrad {
  View dgates{};   // [B, H], of gates_x and of gates_h
  View dh_prev{};  // [B, H]: dh in the rows that are not active, else 0; empty: not wanted
};

void rnn_cell(const RnnStep& step, View h);
// dgates = (1 - h^2) dh. Reads active of the step; h is the step's result.
void rnn_cell_backward(const RnnStep& step, ConstView h, ConstView dh, const RnnStepGrad& grad);

}  // namespace heed
