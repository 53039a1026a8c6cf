// The matrix products of attention with a query to each SIMD lane: of some tiles of rows, and of the block of keys and
// values that they meet. How their factors lie, and what multiplies them, is the affair of those who implement it.
#pragma once

#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/lane_tile.h"

namespace heed {

// What factors are multiplied as.
enum class LaneNumbers { f32, bf16 };

// How products are added to the sums that lie there.
enum class AddedTo {
  nothing,     // there are none: written
  sums,        // a chain of multiply-adds of all of them, which is then added
  sums_apart,  // each product by itself, as a chain that has no other; in f32 alone
};

class LaneProducts {
 public:
  using LanePart = kernels::LanePart;
  virtual ~LaneProducts() = default;

  // Reads the rows of a tile: of q and, in the backward pass, of dout.
  virtual void read_tile(const LaneTile& tile, const ConstView& dout) = 0;
  // Reads the block of keys and values of a key/value head that the others below are about. `next`: the keys that
  // follow, for which products may ask meanwhile, or none; `often`: several tiles will meet the block.
  virtual void read_block(Index b, Index g, Range keys, Range next, bool often) = 0;

  // Whether parts are less than blocks: else each is its whole block.
  virtual bool cuts_parts() const { return true; }

  // What is left to multiply the scores by.
  virtual float scale_of_scores() const { return 1; }

  // Of a part of the block, whose other numbers are left alone: to[key, lane] = scale * (k . q) / scale_of_scores().
  virtual void scores(const LaneTile& tile, const LanePart& part, float* to) = 0;
  // Replaces the scores of a block by weights as add_values() reads them, and takes them into the tile's sums.
  virtual void weigh(const LaneTile& tile, const kernels::AttentionLanes& block, std::span<const LanePart> parts,
                     float* scores) = 0;
  // to[key, lane] = v . dout.
  virtual void weight_gradients(const LaneTile& tile, const LanePart& part, float* to) = 0;
  // out^T = out^T decay + V^T weights.
  virtual void add_values(const LaneTile& tile, const LanePart& part, const float* weights) = 0;
  // The same key after key, in f32 alone: out^T = out^T decays[key] + v weights[key].
  virtual void add_values_apart(const LaneTile& tile, const LanePart& part, const float* weights,
                                const float* decays) = 0;
  // Adds to the tile's delta what the rows' keys give back together, from the same as the next one.
  virtual void add_flow(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part,
                        const float* scores, const float* dweights) = 0;
  // From scores, and what weight_gradients() leaves beside them, the weights and the gradients of the scores as those
  // below read them, and dbias as LaneNormaliser::gradients says.
  virtual void differentiate(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part,
                             float* scores, float* dweights, float* dbias) = 0;
  // dq^T += K^T dscores, over the keys.
  virtual void add_query_gradients(const LaneTile& tile, const LanePart& part, const float* dscores, AddedTo to) = 0;
  // dk[key] += sum over the rows of dscores[key, row] q[row], and likewise dv. Those of the block's first key come
  // first.
  virtual void add_key_gradients(const LaneTile& tile, const LanePart& part, const float* dscores, FloatRows dk,
                                 AddedTo to) = 0;
  virtual void add_value_gradients(const LaneTile& tile, const LanePart& part, const float* weights, FloatRows dv,
                                   AddedTo to) = 0;

  // From gradients of the rows that the score makes of a tile's queries, or of some keys of a head, to theirs.
  virtual void map_query_gradients(const LaneTile&, FloatRows) {}
  virtual void map_key_gradients(Index, Index, Range, FloatRows) {}
};

}  // namespace heed
