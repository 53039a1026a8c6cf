#include "heed/layers/shown_scores.h"

#include <cmath>

#include "heed/ops/attention/problem/bias_rows.h"

namespace heed {

void show_scores(AttentionObserver* observer, const AttentionSite& site, const ConstView& q, const ConstView& k,
                 const AttentionSpec& spec) {
  if (observer == nullptr || !observer->wants_scores(site)) return;
  if (spec.score.kind != Score::Kind::dot || spec.bias.soft_cap || q.dtype != DType::f32) return;
  AttentionScores scores{q, k, spec.score.scale.value_or(1 / std::sqrt(static_cast<double>(q.shape[3])))};
  const MaskShape shape{q.shape[0], q.shape[1], q.shape[2], k.shape[2]};
  const BiasRows rows(spec.bias, MaskRows(spec.mask, shape), shape, DType::f32, "show_scores");
  Tensor bias;
  if (rows.active()) {
    bias = Tensor::zeros(DType::f32, {shape.batch, shape.heads, shape.queries, shape.keys});
    for (Index b = 0; b < shape.batch; ++b)
      for (Index h = 0; h < shape.heads; ++h)
        for (Index i = 0; i < shape.queries; ++i) rows.add(b, h, i, {0, shape.keys}, &bias.at<float>({b, h, i, 0}));
    scores.bias = bias.view();
  }
  observer->on_scores(site, scores);
}

}  // namespace heed
