#include "heed/tasks/explain/word_labels.h"

#include "heed/tasks/explain/small_matrix.h"

namespace heed {

LabelledMatrix WordLabels::rows(const std::string& name, const ConstView& matrix, std::string_view columns) const {
  return label_matrix(name, matrix, words, numbered_labels(columns, matrix.shape[1]));
}

LabelledMatrix WordLabels::pairs(const std::string& name, const Tensor& heads) const {
  return label_matrix(name, head_of(heads.view(), 0), words, words);
}

}  // namespace heed
