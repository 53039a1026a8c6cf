// A computation taken apart: named steps, each with its formula, its matrices and a sentence on what it means.
//
//   Explanation walk = explain_attention(two_by_two_inputs());      // or explain_luong, ...: worked_examples.h
//   std::string text = to_text(walk, 3);                             // explanation_text.h
//   save_picture(draw_explanation(walk), "weights.svg");             // explanation_picture.h
//   Json json = to_json(walk);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"
#include "heed/io/json.h"
#include "heed/tasks/explain/words.h"
#include "heed/tensor/view.h"

namespace heed {

// Numbers with names for their rows and columns.
struct LabelledMatrix {
  // shades: characters from light to dark, a picture without a file; pattern: "#" where it is not 0, else "."
  enum class Shown { numbers, shades, pattern };

  std::string name{};
  std::vector<std::string> row_labels{}, column_labels{};  // they define the shape
  std::vector<double> values{};                            // [rows, columns]; -inf where a mask refuses
  Shown shown = Shown::numbers;
  std::optional<Index> batch{}, head{};  // which batch element and head it is of, from 0, where there are several

  Index rows() const { return static_cast<Index>(row_labels.size()); }
  Index columns() const { return static_cast<Index>(column_labels.size()); }
  double value(Index row, Index column) const { return values[static_cast<std::size_t>(row * columns() + column)]; }
};

struct ExplanationStep {
  std::string name{};     // "scores": for programs, the same in every language
  std::string title{};    // "every query against every key"
  std::string formula{};  // "scores = Q K^T"
  std::string meaning{};  // a sentence or two
  std::vector<LabelledMatrix> matrices{};
};

struct Explanation {
  enum class Drawing { weights, positions };

  std::string walk{};  // what --example calls it: the same in every language
  Language language = Language::english;
  std::string title{}, introduction{};
  std::vector<ExplanationStep> steps{};
  Drawing drawing = Drawing::weights;
  std::vector<LabelledMatrix> pictured{};  // what a picture of it shows: matrices of one shape

  // The step of this name. Throws heed::Error where there is none.
  const ExplanationStep& step(std::string_view name) const;
};

// {"walk", "language", "title", "introduction", "steps": [{"name", "title", "formula", "meaning", "matrices": [{"name",
// "batch" and "head" where there are several, "rows", "columns", "values": [[...], ...]}]}]}; rows and columns are the
// labels. Values are unrounded; null where a number is infinite (refused by a mask) or not a number. But for titles,
// introduction and meanings, what is there is the same in every language.
Json to_json(const Explanation& explanation);

// The values of a matrix [R, C] of f32 or f64 with labels, or of a vector [C] as one row. Throws heed::Error for
// another rank or type, or labels of another number.
LabelledMatrix label_matrix(std::string name, const ConstView& matrix, std::vector<std::string> row_labels,
                            std::vector<std::string> column_labels);

// {"q1", "q2", ..., "q<count>"}.
std::vector<std::string> numbered_labels(std::string_view prefix, Index count, Index first = 1);

}  // namespace heed
