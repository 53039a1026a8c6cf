// The passes of attention over a block of keys with a query to each SIMD lane: what a row adds up goes down a
// column, key after key, and nothing is ever summed across lanes.
//
//   gemm_tile(scores = K Q^T);  kSoftmaxLanes.add(block, parts, scores, rows);
//   gemm_tile(out^T = out^T decay + V^T weights);
//
// A block is keys x lanes floats, [key * lanes + row]. A row is the same whatever the other lanes hold.
#pragma once

#include <cstdint>
#include <span>

#include "heed/base/float16.h"
#include "heed/kernels/lane_layout.h"

namespace heed::kernels {

inline constexpr Index kLaneKeys = 64;   // of a block, at most; blocks begin at its multiples
inline constexpr Index kMostLanes = 64;  // of a block

// What of a block is at work. The rest is as if refused, and is neither read nor written.
struct LanePart {
  Index first_key = 0, end_key = 0;    // first_key: a multiple of 4
  Index first_lane = 0, end_lane = 0;  // multiples of kLaneUnit

  Index keys() const { return end_key - first_key; }
  Index lanes() const { return end_lane - first_lane; }
};

struct AttentionLanes {
  Index keys = 0, lanes = 0;    // lanes: a multiple of kLaneUnit
  float scale = 1;              // what products are multiplied by to be scores; `add` and `gradients` are given scores
  float cap = 0;                // x becomes cap * tanh(x / cap); 0: no cap
  const float* bias = nullptr;  // [key * bias_key + row], added after the cap; null: none
  Index bias_key = 0;
  // Where the next block's bias lies, [row * bias_ahead_row + key]: asked for meanwhile, a little at a time, for no
  // processor guesses where rows go on that are far from each other. Null: nothing is.
  const float* bias_ahead = nullptr;
  Index bias_ahead_row = 0;
  // Bits of the keys, kLaneKeys / 32 words to a row: key j is bit j % 32 of [j / 32 * lanes + row].
  const std::uint32_t* allowed = nullptr;  // null: every key
  const std::uint32_t* kept = nullptr;     // by dropout (lane_dropout.h); null: no dropout
  float keep_scale = 1;                    // what a kept weight is multiplied by

  LanePart whole() const { return {0, keys, 0, lanes}; }
};

// What the rows have added up, [lanes] each.
struct LaneSums {
  float* top;    // the largest score so far, or for add_pairs one that is little less; -inf before the first
  float* sum;    // of exp(score - top), 0 before the first
  float* decay;  // what the last block multiplied older sums by
};

// Where what a block gives to the gradients goes as factors of bf16, of PairUnit's products (pair_unit.h): the weights
// after dropout and the gradients of the scores before the cap, times the scale. Each is filled up with zeros to whole
// multiples of kPairDepth keys and rows.
struct GradientFactors {
  BFloat16* weights;            // [keys, row]
  BFloat16* dscores;            // [keys, row]
  Index row;                    // the lanes, rounded up to a multiple of kPairDepth
  std::uint32_t* dscore_pairs;  // [keys / 2, lanes]: those of keys 2 p, in the lower halves, and 2 p + 1
};

// A normaliser over blocks of lanes, forward and backward.
struct LaneNormaliser {
  // Replaces scores by weights that are still to be multiplied by a number of the row's, zero where a key is refused,
  // after dropout, and takes them into the sums (before dropout): sum = sum decay + (c0 + c1) + (c2 + c3), where c_n
  // adds the keys j with j % 4 = n in order. A score of -inf is as if refused. A NaN or +inf makes the row's sum NaN.
  // No lane is in two of the parts.
  void (*add)(const AttentionLanes& block, std::span<const LanePart> parts, float* tile, const LaneSums& rows);
  // The same of a whole block whose scores are still to be multiplied by AttentionLanes::scale. In their place come
  // pairs of weights in bf16 as words [keys / 2, lanes], with zeros up to a multiple of kPairDepth keys. Where weights
  // are rounded softmax has them as powers of two, so that they differ from the others by a few units.
  void (*add_pairs)(const AttentionLanes& block, float* tile, const LaneSums& rows);
  bool sums_to_one;  // whether that number is 1 / sum; else it is 1
  // Replaces scores by their weights, before dropout, zero where a key is refused, from `top` (or the statistic of the
  // whole row) and that number.
  void (*weigh)(const AttentionLanes& block, const float* top, const float* factor, float* tile);
  // From scores, each row's statistic, its `delta`, and dweights = v . dout:
  //   tile becomes the weights after dropout,
  //   dweights becomes the gradient of the scores before the cap, times `scale`,
  //   dbias becomes that of the scores, where it is not null.
  void (*gradients)(const AttentionLanes& block, const LanePart& part, const float* stat, const float* delta,
                    float scale, float* tile, float* dweights, float* dbias);
  // The same of a whole block whose scores are still to be multiplied by AttentionLanes::scale, as factors of bf16.
  void (*gradient_factors)(const AttentionLanes& block, const float* stat, const float* delta, float scale,
                           const float* tile, const float* dweights, float* dbias, const GradientFactors& to);
  // Adds to flow[row] what the row's keys give back together, of which delta is made, beside `gradients` or
  // `gradient_factors`. Null: nothing.
  void (*flow)(const AttentionLanes& block, const LanePart& part, const float* stat, const float* tile,
               const float* dweights, float* flow);
  void (*narrow_flow)(const AttentionLanes& block, const LanePart& part, const float* stat, const float* tile,
                      const float* dweights, float* flow);
};

// exp(score - top), which the log-sum-exp of the row makes whole.
extern const LaneNormaliser kSoftmaxLanes;
// 1 / (1 + exp(-score)), each key's own affair; `decay` is 1, and a NaN makes its own weight NaN.
extern const LaneNormaliser kSigmoidLanes;

// Takes a further score of each row into softmax's sums, that has weight and no value: a sink; -inf: none. Leaves in
// share[row] = decay / sum what the row's weighted values are multiplied by in the end. A row without a key has the
// share 0 and keeps its sums.
void softmax_lane_shares(Index lanes, float sink, const LaneSums& rows, float* share);

// stat[row] = the log-sum-exp of the row's scores, whose sums these are; -inf for a row without a key.
void softmax_lane_statistics(Index lanes, const LaneSums& rows, float* stat);

// Replaces scores by what they are after the cap and, where `bias`, with it, -inf where a key is refused.
void score_lanes(const AttentionLanes& block, float* tile);

}  // namespace heed::kernels
