#include "heed/tasks/explain/recurrent_states.h"

#include "heed/tasks/explain/small_matrix.h"

namespace heed {

RecurrentStates recurrent_states() {
  return {.decoder = small_matrix({{1, 0.5}}),
          .encoder = small_matrix({{1, 0}, {0, 1}, {-1, 1}}),
          .w_a = small_matrix({{1, 0}, {0, 1}, {1, -1}}),
          .u_a = small_matrix({{1, 0}, {0, 1}, {0, 1}}),
          .v_a = small_matrix({{2, 1, -1}})};
}

LabelledMatrix numbered_matrix(const std::string& name, const ConstView& matrix, std::string_view rows,
                               std::string_view columns) {
  const Index count = matrix.shape[0];
  return label_matrix(name, matrix, count == 1 ? std::vector{std::string(rows)} : numbered_labels(rows, count),
                      numbered_labels(columns, matrix.shape[1]));
}

}  // namespace heed
