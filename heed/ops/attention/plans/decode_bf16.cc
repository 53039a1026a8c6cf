// The plan "decode-bf16": few queries of bf16 against many keys. The rows of all query heads that share a key/value
// head meet a block together. Each row has the bits that the plan "fused-bf16" gives it, which does all else: matrices
// of weights, and gradients.
#include <algorithm>

#include "heed/ops/attention/plans/bf16_row_products.h"
#include "heed/ops/attention/plans/decode_rows.h"
#include "heed/ops/attention/plans/fused.h"

namespace heed {
namespace {

void decode_bf16_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  if (result.weights || result.scores) return kFusedBf16Plan.forward(c, result, workspace);
  decode_rows<Bf16RowProducts>(c, result, workspace);
}

// Measured. Reading a block takes as much as some rows do; where rows are rows of a product, those that are not there
// work all the same.
double decode_bf16_cost(const AttentionProblem& c) {
  const Index rows = c.group * c.queries;
  if (rows == 0) return 0;
  const double computed = Bf16RowProducts::reads_in_place(rows)
                              ? static_cast<double>(rows) + 2.5
                              : 1.1 * static_cast<double>(round_up(rows, kernels::kLaneUnit));
  return pair_cost(c) * computed / static_cast<double>(rows);
}

}  // namespace

const AttentionPlan kDecodeBf16Plan{"decode-bf16",         SumOrder::bf16,      kFusedBf16Plan.why_not,
                                    decode_bf16_cost,      decode_bf16_forward, kFusedBf16Plan.backward,
                                    kFusedBf16Plan.weights};

}  // namespace heed
