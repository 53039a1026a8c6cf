// Recurrent cells on Vars, and a sequence's steps.
//
//   // All inputs are projected at once.
//   for (const Var& gates_x : split_time(context, linear(context, x, weight_ih, bias_ih)))
//     h = gru_cell(context, gates_x, linear(context, h, weight_hh, bias_hh), h, {});
#pragma once

#include <vector>

#include "heed/autograd/context.h"
#include "heed/autograd/var.h"

namespace heed {

// A cell without its matrix products (heed/ops/recurrent.h has the formulas): gates_x = W_ih x + b_ih, gates_h = W_hh
// h_prev + b_hh, every state [B, H]. Rows where `active`, boolean [B], is false keep their state; empty: all rows are
// active.

// gates [B, H].
Var rnn_cell(const Context& context, const Var& gates_x, const Var& gates_h, const Var& h_prev, const Tensor& active);
// gates [B, 3 H] in the order r, z, n.
Var gru_cell(const Context& context, const Var& gates_x, const Var& gates_h, const Var& h_prev, const Tensor& active);
// The GRU whose reset gate acts on the state before its matrix product, which therefore belongs to the cell: weight_hh
// [3 H, H], bias_hh [3 H].
Var gru_reset_first_cell(const Context& context, const Var& gates_x, const Var& h_prev, const Var& weight_hh,
                         const Var& bias_hh, const Tensor& active);

struct LstmState {
  Var h, c;
};
// gates [B, 4 H] in the order i, f, g, o; peepholes [3 H] in the order i, f, o, or empty.
LstmState lstm_cell(const Context& context, const Var& gates_x, const Var& gates_h, const LstmState& previous,
                    const Var& peepholes, const Tensor& active);

// x [B, L, D] as its L steps [B, D], copied: the inverse of stack_time.
std::vector<Var> split_time(const Context& context, const Var& x);

// x [B, L, D] with zeros at positions t >= lengths[b]; lengths i32 [B].
Var zero_padding(const Context& context, const Var& x, const Tensor& lengths);

}  // namespace heed
