// A labelled matrix as lines of text.
//
//   scores [2, 2]
//          k1     k2
//   q1  0.577  0.577
//   q2  0.577  1.155
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/explain/explanation.h"

namespace heed {

inline constexpr Index kRowsOfCut = 12;

struct MatrixTextOptions {
  int digits = 3;         // after the point
  Index most_rows = 32;   // of more, the first and the last are written, kRowsOfCut in all, with "..." between them
  Index most_width = 97;  // of a line of numbers on a terminal: columns beyond are cut out of the middle too
  Language language = Language::english;
};

// The matrix's name, with its batch element and head where there are several: "scores, head 1".
std::string matrix_caption(const LabelledMatrix& matrix, Language language);

// Lays a matrix out: a caption with its name and shape, the column labels, and a line for each row. Labels of wide
// characters (text_columns) keep the columns in step. Numbers are written with `digits` decimals and never as "-0.000";
// all without decimals where every one is a whole number; as 1.234e+08 where one is 10 million or more. Infinities are
// "inf" and "-inf". Shades are one character of " .:-=+*#%@" for a value, from the least to the greatest (two for a
// value in narrow tables), without column labels, 64 rows and 128 columns at most, whatever most_width is; a pattern is
// "#" or "." for a value, as many at most. Lines have no spaces at their end.
std::vector<std::string> matrix_lines(const LabelledMatrix& matrix, const MatrixTextOptions& options = {});

}  // namespace heed
