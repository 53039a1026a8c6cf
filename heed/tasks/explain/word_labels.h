// Matrices whose rows are the words of a sentence.
//
//   const WordLabels words{{"the", "cat"}};
//   words.rows("Q", q.view(), "q");        // rows the, cat; columns q1, q2, ...
//   words.pairs("scores", stages.scores);  // rows and columns the, cat
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/tasks/explain/explanation.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct WordLabels {
  std::vector<std::string> words;

  // [words, D], whose columns are numbered.
  LabelledMatrix rows(const std::string& name, const ConstView& matrix, std::string_view columns) const;
  // The first head of [1, H, words, words].
  LabelledMatrix pairs(const std::string& name, const Tensor& heads) const;
};

}  // namespace heed
