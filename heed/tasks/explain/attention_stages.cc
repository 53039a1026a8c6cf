#include "heed/tasks/explain/attention_stages.h"

#include "heed/base/check.h"

namespace heed {

AttentionStages compute_attention_stages(const ConstView& q, const ConstView& k, const ConstView& v,
                                         const AttentionSpec& spec) {
  HEED_CHECK(q.rank == 4 && k.rank == 4 && v.rank == 4 && q.dtype == DType::f64,
             "compute_attention_stages: q, k and v must be f64 [B, H, L, D], but are {}, {} and {}", describe(q),
             describe(k), describe(v));
  HEED_CHECK(spec.dropout.probability == 0, "compute_attention_stages: dropout is not taken apart");
  const Index batch = q.shape[0], heads = q.shape[1], queries = q.shape[2], keys = k.shape[2];
  const auto square = [&] { return Tensor::empty(DType::f64, {batch, heads, queries, keys}); };
  AttentionStages stages{.scores = square(),
                         .scaled = square(),
                         .capped = square(),
                         .bias = square(),
                         .masked = square(),
                         .row_stat = Tensor::empty(DType::f64, {batch, heads, queries}),
                         .weights = square(),
                         .out = Tensor::empty(DType::f64, {batch, heads, queries, v.shape[3]})};
  Workspace workspace;
  attention(q, k, v, spec,
            {.out = stages.out, .row_stat = stages.row_stat, .weights = stages.weights, .scores = stages.capped},
            workspace);
  const auto scores_of = [&](const AttentionSpec& of, ScoreStage stage, const Tensor& to) {
    AttentionResult result{.scores = to};
    result.score_stage = stage;
    attention(q, k, {}, of, result, workspace);
  };
  AttentionSpec unscaled = spec;
  const bool scale_inside =
      spec.score.kind == Score::Kind::feature_map && spec.score.feature_map.kind == FeatureMap::Kind::positive_random;
  if (spec.score.kind != Score::Kind::additive && !scale_inside) unscaled.score.scale = 1.0;
  scores_of(unscaled, ScoreStage::raw, stages.scores);
  scores_of(spec, ScoreStage::raw, stages.scaled);
  // Of queries that are zero nothing but the bias is left.
  const Tensor no_queries = Tensor::zeros(DType::f64, {batch, heads, queries, 1});
  const Tensor no_keys = Tensor::zeros(DType::f64, {batch, k.shape[1], keys, 1});
  AttentionResult bias_alone{.scores = stages.bias};
  bias_alone.score_stage = ScoreStage::masked;
  attention(no_queries, no_keys, {}, {.bias = spec.bias, .mask = Mask{.anchor = spec.mask.anchor}}, bias_alone,
            workspace);
  scores_of(spec, ScoreStage::masked, stages.masked);
  return stages;
}

}  // namespace heed
