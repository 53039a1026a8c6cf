#include "heed/layers/recurrent_cell.h"

#include <cmath>
#include <string>

#include "heed/autograd/operators.h"
#include "heed/autograd/recurrent.h"
#include "heed/base/check.h"

namespace heed {

Index gate_count(CellKind kind) {
  switch (kind) {
    case CellKind::rnn:
      return 1;
    case CellKind::gru:
    case CellKind::gru_reset_first:
      return 3;
    case CellKind::lstm:
    case CellKind::lstm_peephole:
      return 4;
  }
  fail("gate_count: cell {} is none", static_cast<int>(kind));
}

RecurrentCell::RecurrentCell(const ParameterScope& scope, std::string_view suffix, CellKind kind, Index inputs,
                             Index hidden)
    : kind_(kind), hidden_(hidden) {
  HEED_CHECK(inputs >= 1 && hidden >= 1, "RecurrentCell: inputs and hidden must be positive, but are {} and {}", inputs,
             hidden);
  const Index gates = gate_count(kind) * hidden;
  const Initial initial = Initial::uniform(1 / std::sqrt(static_cast<double>(hidden)));
  const auto named = [&](std::string_view name) { return std::string(name) + std::string(suffix); };
  weight_ih_ = scope.weight(named("weight_ih"), gates, inputs, initial);
  weight_hh_ = scope.weight(named("weight_hh"), gates, hidden, initial);
  bias_ih_ = scope.vector(named("bias_ih"), gates, initial);
  bias_hh_ = scope.vector(named("bias_hh"), gates, initial);
  if (kind == CellKind::lstm_peephole) weight_peephole_ = scope.vector(named("weight_peephole"), 3 * hidden, initial);
}

Var RecurrentCell::project(const Context& context, const Var& x) const {
  return linear(context, x, weight_ih_, bias_ih_);
}

RecurrentState RecurrentCell::step(const Context& context, const Var& gates_x, const RecurrentState& state,
                                   const Tensor& active) const {
  if (kind_ == CellKind::gru_reset_first) {
    return {gru_reset_first_cell(context, gates_x, state.h, weight_hh_, bias_hh_, active), {}};
  }
  const Var gates_h = linear(context, state.h, weight_hh_, bias_hh_);
  if (kind_ == CellKind::rnn) return {rnn_cell(context, gates_x, gates_h, state.h, active), {}};
  if (kind_ == CellKind::gru) return {gru_cell(context, gates_x, gates_h, state.h, active), {}};
  const LstmState next = lstm_cell(context, gates_x, gates_h, {state.h, state.c}, weight_peephole_, active);
  return {next.h, next.c};
}

RecurrentState RecurrentCell::zero_state(DType dtype, Index rows) const {
  const Var zeros(Tensor::zeros(dtype, {rows, hidden_}));
  return {zeros, gate_count(kind_) == 4 ? zeros : Var()};
}

}  // namespace heed
