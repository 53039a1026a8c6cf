// Rows of one head, a row to each SIMD lane, and what they have added up so far.
#pragma once

#include <algorithm>

#include "heed/kernels/attention_lanes.h"
#include "heed/ops/attention/plans/row_tiles.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

struct LaneTile {
  RowTile rows{};
  Index nth = 0;  // of the tiles at work
  Index lanes = 0;
  MaskTile open{};
  Range* row_keys = nullptr;   // [lanes], what windows and lengths leave to each row
  bool started = false;        // whether a block has been added to the sums
  float* out_lanes = nullptr;  // [Dv, lanes], forward
  float* dq_lanes = nullptr;   // [D, lanes], backward
  float *top = nullptr, *sum = nullptr, *decay = nullptr, *factor = nullptr;  // [lanes]

  kernels::LaneSums sums() const { return {top, sum, decay}; }
  // Makes what the tile adds up zero, where a block leaves lanes out that no other one has written.
  void start_zeroed(float* sums, Index width) {
    if (!started) std::fill_n(sums, width * lanes, 0.0f);
    started = true;
  }
  // In the backward pass, in place of the sums.
  float* stat() const { return top; }
  float* delta() const { return sum; }
};

// The lanes of the largest tile.
Index most_lanes(const AttentionProblem& c);

}  // namespace heed
