#include "heed/layers/recurrent_cell.h"

#include <cmath>

#include "heed/autograd/operators.h"
#include "heed/autograd/recurrent.h"
#include "heed/base/check.h"
#include "heed/layers/initialise.h"

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

RecurrentCell::RecurrentCell(CellKind kind, Rng& rng, Index inputs, Index hidden) : kind_(kind), hidden_(hidden) {
  HEED_CHECK(inputs >= 1 && hidden >= 1, "RecurrentCell: inputs and hidden must be positive, but are {} and {}", inputs,
             hidden);
  const Index gates = gate_count(kind) * hidden;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  weight_ih_ = uniform_parameter(rng, {gates, inputs}, bound);
  weight_hh_ = uniform_parameter(rng, {gates, hidden}, bound);
  bias_ih_ = uniform_parameter(rng, {gates}, bound);
  bias_hh_ = uniform_parameter(rng, {gates}, bound);
  if (kind == CellKind::lstm_peephole) weight_peephole_ = uniform_parameter(rng, {3 * hidden}, bound);
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

void RecurrentCell::parameters(const std::string& path, const std::string& suffix, ParameterList& list) const {
  add_parameter(list, path, "weight_ih" + suffix, weight_ih_);
  add_parameter(list, path, "weight_hh" + suffix, weight_hh_);
  add_parameter(list, path, "bias_ih" + suffix, bias_ih_);
  add_parameter(list, path, "bias_hh" + suffix, bias_hh_);
  add_parameter(list, path, "weight_peephole" + suffix, weight_peephole_);
}

}  // namespace heed
