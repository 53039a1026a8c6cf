// Where in a sound each token was said, by the attention that was paid to it.
//
//   std::vector<Index> columns = warped_starts(matrix, tokens, frames);
#pragma once

#include <span>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// Dynamic time warping (Sakoe and Chiba 1978): the path through a matrix [rows, columns] from its first corner to its
// last, by steps of a row, a column or both, along which the numbers' sum is largest. Returns the first column of each
// row on it. Of equal sums a step of a column is taken before others. Throws heed::Error for a matrix without numbers.
// Costs rows * columns steps, and a byte for each.
std::vector<Index> warped_starts(std::span<const double> matrix, Index rows, Index columns);

// Weights [heads, rows, columns] as one matrix [rows, columns]: each column of a head less its mean over the rows, and
// divided by its deviation; the median of seven columns; the mean of the heads (Radford et al.'s way to word times).
// Columns of no deviation are zero.
std::vector<double> sharpened(std::span<const float> weights, Index heads, Index rows, Index columns);

}  // namespace heed
