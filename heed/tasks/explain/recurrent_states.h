// The states that explain_bahdanau and explain_luong share, so that the two can be compared.
#pragma once

#include "heed/tasks/explain/explanation.h"
#include "heed/tensor/tensor.h"

namespace heed {

// A decoder that is about to write a word, over the encoder's states of three source words; the weights of the additive
// score v_a . tanh(W_a s + U_a h).
struct RecurrentStates {
  Tensor decoder;        // [1, 2]
  Tensor encoder;        // [3, 2]
  Tensor w_a, u_a, v_a;  // [3, 2], [3, 2], [1, 3]
};

RecurrentStates recurrent_states();

// A matrix with numbered rows and columns: "h1", "h2", ...; one row is labelled by its prefix alone.
LabelledMatrix numbered_matrix(const std::string& name, const ConstView& matrix, std::string_view rows,
                               std::string_view columns);

}  // namespace heed
