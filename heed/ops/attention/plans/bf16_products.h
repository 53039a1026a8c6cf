// The products of queries, keys and values that are all bf16 by a unit that multiplies such numbers, summed in f32.
// What is made in between (the weights, and the gradients of the scores) is rounded to bf16 before it is a factor, as
// in Dao et al. 2022. Blocks of keys are read where they lie, as far as they do in whole tiles.
#pragma once

#include "heed/kernels/pair_unit.h"
#include "heed/ops/attention/plans/bf16_block_rows.h"
#include "heed/ops/attention/plans/lane_products.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/ops/attention/plans/scratch_cut.h"

namespace heed {

class Bf16Products final : public LaneProducts {
 public:
  // For `tiles` tiles at a time of at most `lanes` lanes. The unit works for this thread from here to the destructor.
  Bf16Products(const AttentionProblem& c, AttentionTask::Pass pass, Index tiles, Index lanes, ScratchCut& scratch);
  ~Bf16Products() override;
  Bf16Products(const Bf16Products&) = delete;
  Bf16Products& operator=(const Bf16Products&) = delete;

  void read_tile(const LaneTile& tile, const ConstView& dout) override;
  void read_block(Index b, Index g, Range keys, Range next, bool often) override;
  bool cuts_parts() const override { return false; }
  float scale_of_scores() const override { return static_cast<float>(c_.scale); }
  void scores(const LaneTile& tile, const LanePart&, float* to) override;
  void weight_gradients(const LaneTile& tile, const LanePart&, float* to) override;
  void weigh(const LaneTile& tile, const kernels::AttentionLanes& block, std::span<const LanePart> parts,
             float* scores) override;
  void add_values(const LaneTile& tile, const LanePart&, const float* weights) override;
  void add_values_apart(const LaneTile&, const LanePart&, const float*, const float*) override;
  void add_flow(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part, const float* scores,
                const float* dweights) override;
  void differentiate(const LaneTile& tile, const kernels::AttentionLanes& block, const LanePart& part, float* scores,
                     float* dweights, float* dbias) override;
  void add_query_gradients(const LaneTile& tile, const LanePart&, const float* dscores, AddedTo to) override;
  void add_key_gradients(const LaneTile& tile, const LanePart&, const float* dscores, FloatRows dk,
                         AddedTo to) override;
  void add_value_gradients(const LaneTile& tile, const LanePart&, const float* weights, FloatRows dv,
                           AddedTo to) override;

 private:
  using Pairs = std::uint32_t;  // two bf16

  // q or dout of a tile.
  struct Factors {
    Pairs* lanes;  // [D / 2, lanes]: pairs of dimensions
    Pairs* rows;   // [rows / 2, D]: pairs of rows; backward
  };

  Bf16Rows tile_rows(const ConstView& view, const RowTile& tile, Index width);
  void turn(Bf16Rows rows, Index width, Pairs* to);
  void pack(Bf16Rows rows, Index count, Index width, const LaneTile& tile, const Factors& to);
  void lane_products(const Bf16Rows& rows, Index width, const Pairs* lanes, const LaneTile& tile, float* to);
  void add_lanes(const Pairs* turned, Index width, const LaneTile& tile, const Pairs* of_keys, float* sums, AddedTo to,
                 const float* decay);
  void add_rows(const BFloat16* by_row, const Pairs* rows, Index width, FloatRows sums, AddedTo to);

  const AttentionProblem& c_;
  const kernels::PairUnit& unit_;
  const kernels::LaneNormaliser& normaliser_;
  const bool opened_, backward_;
  Index count_ = 0;  // of the keys of the block
  Bf16Rows keys_{}, values_{};
  Factors* q_ = nullptr;
  Factors* dout_ = nullptr;
  Pairs *keys_turned_ = nullptr, *values_turned_ = nullptr, *pairs_ = nullptr;
  BFloat16 *rows_ = nullptr, *k_ = nullptr, *v_ = nullptr;
  kernels::GradientFactors factors_{};  // of the block at work; backward
};

}  // namespace heed
