// One row by itself against a block of keys, as a step of decoding has it: the same bits as kSoftmaxLanes or
// kSigmoidLanes gives it beside others (attention_lanes.h).
#pragma once

#include <cstdint>

#include "heed/base/index.h"

namespace heed::kernels {

// What a row's scores become. Those of softmax that are rounded to bf16 later are powers of two, as they are in
// kSoftmaxLanes.add_pairs.
enum class RowWeights { softmax, softmax_for_bf16, sigmoid };

// What a block has beside the row's scores, as AttentionLanes says.
struct LaneRow {
  Index keys = 0;
  float cap = 0;
  const float* bias = nullptr;
  std::uint64_t allowed = ~std::uint64_t{0};  // bit j: key j
  bool drops = false;                         // whether there is dropout
  std::uint64_t kept = 0;
  float keep_scale = 1;
  RowWeights weights = RowWeights::softmax;
};
struct RowSums {
  float top, sum, decay;
};

// Replaces scores by weights, not yet rounded, and takes them into the sums, as LaneNormaliser::add does: kLaneKeys
// floats, of which those from `keys` on are written but mean nothing.
void weigh_row(const LaneRow& block, float* row, RowSums& sums);

// sums[i] = sums[i] * decay + added[i].
void decay_row(Index count, float decay, const float* added, float* sums);

// Takes a further score of the row into the sums, that has weight and no value: a sink.
void softmax_row_sink(float sink, RowSums& sums);

// The log-sum-exp of the row's scores; -inf for a row without a key.
float softmax_row_statistic(const RowSums& sums);

}  // namespace heed::kernels
