#include "heed/tasks/explain/attention_stages.h"

#include "heed/base/check.h"

namespace heed {

AttentionStages compute_attention_stages(const ConstView& q, const ConstView& k, const ConstView& v,
                                         const AttentionSpec& spec) {
  HEED_CHECK(q.rank == 4 && k.rank == 4 && v.rank == 4 && q.dtype == DType::f64,
             "compute_attention_stages: q, k and v must be f64 [B, H, L, D], but are {}, {} and {}", describe(q),
             describe(k), describe(v));
  HEED_CHECK(!spec.bias.dense && !spec.bias.soft_cap && spec.dropout.probability == 0,
             "compute_attention_stages: a bias, a soft-cap and dropout are not taken apart");
  const Index batch = q.shape[0], heads = q.shape[1], queries = q.shape[2], keys = k.shape[2];
  const auto square = [&] { return Tensor::empty(DType::f64, {batch, heads, queries, keys}); };
  AttentionStages stages{.scores = square(),
                         .scaled = square(),
                         .masked = square(),
                         .row_stat = Tensor::empty(DType::f64, {batch, heads, queries}),
                         .weights = square(),
                         .out = Tensor::empty(DType::f64, {batch, heads, queries, v.shape[3]})};
  Workspace workspace;
  attention(q, k, v, spec,
            {.out = stages.out, .row_stat = stages.row_stat, .weights = stages.weights, .scores = stages.scaled},
            workspace);
  AttentionSpec unscaled = spec;
  if (spec.score.kind == Score::Kind::dot) unscaled.score.scale = 1.0;
  attention(q, k, {}, unscaled, {.scores = stages.scores}, workspace);

  AttentionResult masked{.scores = stages.masked};
  masked.score_stage = ScoreStage::masked;
  attention(q, k, {}, spec, masked, workspace);
  return stages;
}

}  // namespace heed
