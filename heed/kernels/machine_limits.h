// Loops of one kind of work each, by which a machine's limits are measured.
//
//   const auto start = now();  const Index done = multiply_adds(1 << 16);  rate = done / (now() - start);
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// Makes `steps` multiply-adds, at most 2^24, in each lane of as many chains as hide their latency, all in registers.
// Returns how many there were, which is what the chains sum up to: each multiply-add adds one.
Index multiply_adds(Index steps);

// y_i = exp(x_i), as attention's kernels compute it.
void exp_each(const float* x, float* y, Index n);

// The sum of x_i, whose order is the target's own: as fast as memory can be read.
float sum_of(const float* x, Index n);

}  // namespace heed::kernels
