// Attention over tiles of rows, f32. A tile is some rows of one head against the blocks of keys that its mask leaves
// them; it lies in cache while it turns from products into scores, weights, and (in the backward pass) gradients. What
// the products are is the score's affair, what weights and gradients they give the normaliser's: two tables of values.
#pragma once

#include <optional>

#include "heed/kernels/attention_normaliser.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/plan.h"

namespace heed {

// What the score of a tile is made of.
struct TileOperands {
  Index rows, keys, width;
  FloatRows q, k;              // rows x width and keys x width, as the score maps them
  FloatRows given_q, given_k;  // the same before
  const float* vector;         // of the additive score
};

// Where its gradients are added; null data: not wanted.
struct TileFlows {
  FloatRows dq, dk;
  float* dvector;
};

// A score whose gradients read again what its products are made of. The backward pass goes through a block in strips of
// so few rows and keys that this stays in the first levels of the cache in between.
struct KeptStrip {
  Index rows, keys;              // keys: a multiple of kAttentionLanes
  Index (*floats)(Index width);  // that are kept of a pair of a row and a key
};

// A score function, by its two halves. Tiles are row-major with `stride` floats to a row.
struct TileScore {
  bool scaled;  // whether the products are multiplied by the case's scale
  // Fills the tile with products: q_i . k_j, or what the score has in their place. `kept`, of a score that has a strip,
  // takes what `gradients` reads again; null: not wanted.
  void (*products)(const TileOperands& x, float* products, Index stride, float* kept);
  // From the gradient of the products: adds to dq, to dk, and to dvector [width].
  void (*gradients)(const TileOperands& x, const float* kept, const float* dproducts, Index stride,
                    const TileFlows& to);
  std::optional<KeptStrip> strip{};
  // Fills y with what the other two read in place of rows x of q or of k; y may be x. Null: the rows themselves.
  void (*map)(Index rows, Index width, FloatRows x, FloatRows y) = nullptr;
  // Replaces dy, the gradient of map's y, by that of x. Null: `gradients` adds those of the rows that are given.
  void (*map_gradients)(Index rows, Index width, FloatRows x, FloatRows dy) = nullptr;
  bool multiplies_rows = false;  // whether the products are dot products of the rows that map makes
};

// Rows as the score maps them: the rows themselves, or in scratch, [count, width].
inline FloatRows mapped_rows(const TileScore& score, Index count, Index width, FloatRows x, float* scratch) {
  if (score.map == nullptr) return x;
  score.map(count, width, x, {scratch, width});
  return {scratch, width};
}

extern const TileScore kDotScore, kAdditiveScore, kCosineScore, kDistanceScore;

// The halves of the dot score, of which others are made.
void dot_products(const TileOperands& x, float* products, Index stride, float* kept);
void dot_gradients(const TileOperands& x, const float* kept, const float* dproducts, Index stride, const TileFlows& to);

// The tables. Null where tiles have no such score or normaliser.
const TileScore* tile_score(Score::Kind kind);
const kernels::AttentionNormaliser* tile_normaliser(Normaliser::Kind kind);

// Each sum over keys or queries is one chain in ascending order, cut at multiples of kGemmTileDepth keys (kPatternBlock
// under a mask that is no interval of each row), and of kTileRows queries for dk, dv and the gradient of the additive
// vector, so a row's bits depend on that row alone. Refused keys add exact zeros. Beside its inputs and outputs a call
// takes, for each thread, a forward tile of at least 8 rows by Lk, or a backward tile of kTileRows rows by
// kGemmTileDepth and a score's strip, and what a score maps of a tile's rows and a block of keys; 16-bit k and v add
// f32 sums of dk and dv, Lk rows each. All threads together take a row of D floats for each tile of rows, for the
// gradient of the additive vector, and, where heads are shared out, a counter for each tile.
void tiled_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace);
void tiled_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                    Workspace& workspace);
void tiled_weights(const AttentionProblem& c, const ConstView& row_stat, const AttentionSelection& chosen,
                   const View& weights, Workspace& workspace);

extern const AttentionPlan kTiledPlan;

}  // namespace heed
