// One recurrent cell with its parameters, named as those of torch.nn.RNN, GRU and LSTM.
//
//   RecurrentCell cell(scope / "encoder", "_l0", CellKind::gru, 128, 256);
//   RecurrentState state = cell.zero_state(DType::f32, batch);
//   state = cell.step(context, cell.project(context, x), state);          // x [B, 128], state.h [B, 256]
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/autograd/context.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

enum class CellKind {
  rnn,              // tanh(W x + U h) (Elman 1990)
  gru,              // as PyTorch and cuDNN: the reset gate acts after the state's matrix product
  gru_reset_first,  // as Cho et al. 2014 and Bahdanau et al. 2015: before it
  lstm,             // Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000
  lstm_peephole,    // gates that see the memory cell (Gers and Schmidhuber 2000)
};
inline constexpr std::pair<std::string_view, CellKind> kCellKindNames[] = {
    {"rnn", CellKind::rnn},
    {"gru", CellKind::gru},
    {"gru_reset_first", CellKind::gru_reset_first},
    {"lstm", CellKind::lstm},
    {"lstm_peephole", CellKind::lstm_peephole}};
inline std::span<const std::pair<std::string_view, CellKind>> enum_names(CellKind) { return kCellKindNames; }

// Rows of a cell's weights for each unit: 1, 3 (r, z, n) or 4 (i, f, g, o).
Index gate_count(CellKind kind);

// h [B, H], and an LSTM's memory cell c [B, H]; c is empty for the other cells.
struct RecurrentState {
  Var h, c;
};

class RecurrentCell {
 public:
  // weight_ih [gates, inputs], weight_hh [gates, hidden], bias_ih and bias_hh [gates] with gates = gate_count * hidden,
  // and weight_peephole [3 * hidden] in the order i, f, o where the kind has it; each name with `suffix` behind it,
  // such as "_l0_reverse". All are uniform in +-1 / sqrt(hidden), as PyTorch's. Throws heed::Error unless inputs and
  // hidden are positive.
  RecurrentCell(const ParameterScope& scope, std::string_view suffix, CellKind kind, Index inputs, Index hidden);

  // The inputs' part of the gates for any number of steps at once: x [..., inputs] to [..., gate_count * hidden].
  Var project(const Context& context, const Var& x) const;
  // One step from what project gave, [B, gate_count * hidden]. Rows where `active`, boolean [B], is false keep their
  // state; empty: all are active.
  RecurrentState step(const Context& context, const Var& gates_x, const RecurrentState& state,
                      const Tensor& active = {}) const;
  RecurrentState zero_state(DType dtype, Index rows) const;

 private:
  CellKind kind_;
  Index hidden_;
  Var weight_ih_, weight_hh_;
  Var bias_ih_, bias_hh_;
  Var weight_peephole_;
};

}  // namespace heed
