// Stacked recurrent layers over padded sentences (torch.nn.RNN, GRU and LSTM, with their parameter names).
//
//   const RecurrentOptions options{.inputs = 128, .hidden = 256, .direction = Direction::both};
//   Recurrent encoder(scope / "encoder", options);
//   RecurrentOutput output = encoder.forward(context, x, lengths);        // output.states [B, L, 512]
#pragma once

#include <span>
#include <vector>

#include "heed/layers/recurrent_cell.h"

namespace heed {

// The order in which a sentence is read; `both` reads it twice and puts the two states of a position side by side.
enum class Direction { forward, reverse, both };

struct RecurrentOptions {
  CellKind cell = CellKind::gru;
  Index inputs = 0;
  Index hidden = 0;  // units of one direction
  Index layers = 1;  // each reads the states of the one before
  Direction direction = Direction::forward;
  double dropout = 0;  // of what a layer hands to the next
};

struct RecurrentOutput {
  Var states;  // [B, L, directions * hidden] of the last layer; 0 at and after a sentence's length
  std::vector<RecurrentState>
      last;  // after each sentence's own last step: layer by layer, forward before reverse (torch's h_n)
};

class Recurrent {
 public:
  Recurrent() = default;
  // The parameters of each layer and direction (see RecurrentCell), "weight_ih_l0", "weight_ih_l0_reverse" and so on.
  // Throws heed::Error for extents that are not positive and dropout outside [0, 1).
  Recurrent(const ParameterScope& scope, const RecurrentOptions& options);

  // Reads x [B, L, inputs]. `lengths`, i32 [B], says how many positions of a sentence count; empty: all. A sentence's
  // result depends, to the bit, neither on what its padding holds nor on the batch; the reverse direction starts at its
  // own last token. `initial` has the order of RecurrentOutput::last; empty: zeros. Throws heed::Error for other shapes
  // and for a length outside [0, L].
  RecurrentOutput forward(const Context& context, const Var& x, const Tensor& lengths,
                          std::span<const RecurrentState> initial = {}) const;
  // One position x [B, inputs] after `states`, one a layer; the last one's h is the output. Direction::forward only.
  std::vector<RecurrentState> step(const Context& context, const Var& x, std::span<const RecurrentState> states) const;

  // Features of a position of `states`: directions * hidden.
  Index width() const { return directions() * options_.hidden; }
  Index directions() const { return options_.direction == Direction::both ? 2 : 1; }
  const RecurrentOptions& options() const { return options_; }

 private:
  RecurrentOptions options_;
  std::vector<RecurrentCell> cells_;  // layer by layer, forward before reverse
};

}  // namespace heed
