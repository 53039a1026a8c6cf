// Chosen rows, cut into runs that follow one another.
#pragma once

#include <vector>

#include "heed/ops/attention/spec/mask_pattern.h"
#include "heed/ops/attention/spec/results.h"

namespace heed {

// Rows that follow one another, and where in the result the first of them stands.
struct RowRun {
  Range rows;
  Index at;
};

// The runs of `count` chosen rows, of `longest` rows at most.
inline std::vector<RowRun> row_runs(const AttentionSelection& chosen, Index count, Index longest) {
  std::vector<RowRun> runs;
  for (Index at = 0; at < count; ++at) {
    const Index row = chosen.row(at);
    const bool follows = !runs.empty() && runs.back().rows.end == row && runs.back().rows.size() < longest;
    if (follows) {
      ++runs.back().rows.end;
    } else {
      runs.push_back({{row, row + 1}, at});
    }
  }
  return runs;
}

}  // namespace heed
