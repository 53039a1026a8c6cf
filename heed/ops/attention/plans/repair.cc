#include "heed/ops/attention/plans/repair.h"

#include <vector>

#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/reference.h"

namespace heed {

void repair_rows(const AttentionProblem& problem, const View& out, const RowTile& tile) {
  if (!rows_have_nan(out, tile.b, tile.h, tile.rows)) return;
  std::vector<Index> spoilt;
  for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
    if (rows_have_nan(out, tile.b, tile.h, {i, i + 1})) spoilt.push_back(i);
  }
  AttentionResult only_out;
  only_out.out = out;
  reference_forward_rows(problem, only_out, tile.b, tile.h, spoilt);
}

void repair_gradients(const AttentionProblem& problem, const AttentionSaved& saved, const AttentionGrad& grad, Index b,
                      Index g) {
  const auto have_nan = [&](const ConstView& view, Index head, Index heads) {
    for (Index h = head; view && h < head + heads; ++h) {
      if (rows_have_nan(view, b, h, {0, view.shape[2]})) return true;
    }
    return false;
  };
  const bool spoilt =
      have_nan(grad.dq, g * problem.group, problem.group) || have_nan(grad.dk, g, 1) || have_nan(grad.dv, g, 1);
  if (!spoilt) return;
  AttentionGrad again;
  again.dq = grad.dq, again.dk = grad.dk, again.dv = grad.dv;
  reference_backward_group(problem, saved, again, b, g);
}

}  // namespace heed
