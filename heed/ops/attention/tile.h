// Attention over tiles of rows, f32: the part that the dot and the additive score share. A tile is some rows of one
// head against all keys that its mask leaves them; it lies in cache while it turns from products into scores, weights,
// and (in the backward pass) gradients.
#pragma once

#include <algorithm>

#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/plan.h"

namespace heed {

// Some rows of a head and some keys. In a tile, key j of row i is at (i - rows.begin) * stride + j - keys.begin.
struct Tile {
  Index b, h;
  Range rows, keys;
  Index stride;
};

// A score function, by its two halves.
struct TileScore {
  float scale(const AttentionCase& c) const { return scaled ? static_cast<float>(c.scale) : 1.0f; }

  bool scaled;  // whether the products are multiplied by the case's scale
  // Fills the tile with products: q_i . k_j, or what the score has in their place.
  void (*products)(const AttentionCase& c, const Tile& tile, float* products);
  // From the gradient of the products: adds to the rows of dq, to dk, and to dvector [D]. Each may be unwanted (dvector
  // null).
  void (*gradients)(const AttentionCase& c, const Tile& tile, const float* dproducts, const AttentionGrad& grad,
                    float* dvector);
};

// Each sum over keys or queries is one chain in ascending order, cut at multiples of kGemmTileDepth keys, and of 64
// queries for dk and dv, so a row's bits depend on that row alone. Refused keys add exact zeros.
void tiled_forward(const TileScore& score, const AttentionCase& c, const AttentionResult& result, Workspace& workspace);
void tiled_backward(const TileScore& score, const AttentionCase& c, const AttentionSaved& saved,
                    const AttentionGrad& grad, Workspace& workspace);

// gemm_tile for any k: chains of kGemmTileDepth, added in order to c.
void deep_gemm_tile(kernels::GemmTile tile);

// Calls body(keys) for the parts of a range of keys that are cut at absolute multiples of kGemmTileDepth.
template <typename Body>
void for_key_blocks(Range keys, Body&& body) {
  for (Index begin = keys.begin; begin < keys.end;) {
    const Index end = std::min(keys.end, (begin / kernels::kGemmTileDepth + 1) * kernels::kGemmTileDepth);
    body(Range{begin, end});
    begin = end;
  }
}

extern const AttentionPlan kTiledPlan;
extern const AttentionPlan kAdditivePlan;

}  // namespace heed
