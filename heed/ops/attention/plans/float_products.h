// The products in f32, of whatever type the numbers are stored in: plain SIMD. The factors are read where they lie
// unless they are of 16 bits, lie in several pages or far apart, or are first mapped by the score.
#pragma once

#include "heed/ops/attention/plans/lane_products.h"
#include "heed/ops/attention/plans/rows_ahead.h"
#include "heed/ops/attention/plans/scratch_cut.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {

class FloatProducts final : public LaneProducts {
 public:
  // For `tiles` tiles at a time.
  FloatProducts(const AttentionProblem& c, AttentionTask::Pass pass, Index tiles, ScratchCut& scratch);

  void read_tile(const LaneTile& tile, const ConstView& dout) override;
  void read_block(Index b, Index g, Range keys, Range next, bool often) override;
  void scores(const LaneTile& tile, const LanePart& part, float* to) override;
  void weight_gradients(const LaneTile& tile, const LanePart& part, float* to) override;
  void weigh(const LaneTile& tile, const kernels::AttentionLanes& block, std::span<const LanePart> parts,
             float* scores) override;
  void add_values(const LaneTile& tile, const LanePart& part, const float* weights) override;
  void add_values_apart(const LaneTile& tile, const LanePart& part, const float* weights, const float* decays) override;
  void add_flow(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part, const float* scores,
                const float* dweights) override;
  void differentiate(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part, float* scores,
                     float* dweights, float* dbias) override;
  void add_query_gradients(const LaneTile& tile, const LanePart& part, const float* dscores, AddedTo to) override;
  void add_key_gradients(const LaneTile& tile, const LanePart& part, const float* dscores, FloatRows dk,
                         AddedTo to) override;
  void add_value_gradients(const LaneTile& tile, const LanePart& part, const float* weights, FloatRows dv,
                           AddedTo to) override;
  void map_query_gradients(const LaneTile& tile, FloatRows dq) override;
  void map_key_gradients(Index b, Index g, Range of, FloatRows dk) override;

 private:
  // Of a tile.
  struct Factors {
    FloatRows q, dout;            // q as the score maps it
    float *q_lanes, *dout_lanes;  // [D, lanes], [Dv, lanes]
  };

  void add_rows(const LaneTile& tile, const LanePart& part, const float* by_row, FloatRows x, Index width,
                FloatRows sums, AddedTo to) const;

  const AttentionProblem& c_;
  const TileScore& score_;
  const kernels::LaneNormaliser& normaliser_;
  Index rows_;  // of a tile, at most
  Factors* tiles_ = nullptr;
  float *q_rows_ = nullptr, *dout_rows_ = nullptr, *q_lanes_ = nullptr, *dout_lanes_ = nullptr;
  float *k_ = nullptr, *v_ = nullptr;
  FloatRows keys_{}, values_{};
  RowsAhead ahead_;  // of the next block
};

}  // namespace heed
