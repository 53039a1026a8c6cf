// The plan "tiled": sums in f32 over tiles of rows, for any score and any normaliser of two small tables.
#include "heed/ops/attention/plans/tile.h"

namespace heed {

const TileScore* tile_score(Score::Kind kind) {
  switch (kind) {
    case Score::Kind::dot:
      return &kDotScore;
    case Score::Kind::additive:
      return &kAdditiveScore;
    case Score::Kind::cosine:
      return &kCosineScore;
    case Score::Kind::squared_distance:
      return &kDistanceScore;
    case Score::Kind::feature_map:
      break;
  }
  return nullptr;
}

const kernels::AttentionNormaliser* tile_normaliser(Normaliser::Kind kind) {
  switch (kind) {
    case Normaliser::Kind::softmax:
      return &kernels::kSoftmax;
    case Normaliser::Kind::sigmoid:
      return &kernels::kSigmoid;
    case Normaliser::Kind::sparsemax:
      return &kernels::kSparsemax;
    case Normaliser::Kind::entmax15:
      return &kernels::kEntmax15;
    case Normaliser::Kind::sum:
      break;
  }
  return nullptr;
}

namespace {

std::string_view tiled_why_not(const AttentionProblem& c, const AttentionTask&) {
  if (c.dtype == DType::f64) return "it computes in f32";
  if (tile_score(c.spec.score.kind) == nullptr) return "the score has a feature map";
  if (tile_normaliser(c.spec.normaliser.kind) == nullptr) return "the normaliser is a sum";
  return {};
}

}  // namespace

const AttentionPlan kTiledPlan{"tiled",       SumOrder::tiles, tiled_why_not, pair_cost,
                               tiled_forward, tiled_backward,  tiled_weights};

}  // namespace heed
