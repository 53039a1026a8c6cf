// What a mask refuses must not count, but zero times a NaN or an infinity is not zero: what came out as NaN is computed
// again by the loops that never touch it.
#pragma once

#include "heed/ops/attention/plans/row_tiles.h"
#include "heed/ops/attention/spec/results.h"

namespace heed {

struct AttentionProblem;

// Rows of a forward pass.
void repair_rows(const AttentionProblem& problem, const View& out, const RowTile& tile);

// dq, dk and dv of key/value head g of batch element b. What accumulates is masked by the kernels, and was right.
void repair_gradients(const AttentionProblem& problem, const AttentionSaved& saved, const AttentionGrad& grad, Index b,
                      Index g);

}  // namespace heed
