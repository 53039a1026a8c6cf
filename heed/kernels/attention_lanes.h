// The passes of softmax attention over a block of keys with a query to each SIMD lane: what a row adds up goes down a
// column, key after key, and nothing is ever summed across lanes.
//
//   gemm_tile(scores = K Q^T);  softmax_lanes(block, scores, rows);  gemm_tile(out^T = out^T decay + V^T weights);
//
// A block is keys x lanes floats, [key * lanes + row]. A row is the same whatever the other lanes hold.
#pragma once

#include <cstdint>

#include "heed/base/index.h"

namespace heed::kernels {

inline constexpr Index kLaneKeys = 64;  // of a block, at most; blocks begin at its multiples
inline constexpr Index kLaneUnit = 16;  // `lanes` is a multiple of it

struct AttentionLanes {
  Index keys = 0, lanes = 0;
  float cap = 0;                 // x becomes cap * tanh(x / cap); 0: no cap
  const float* bias = nullptr;   // in the layout of the block: added after the cap; null: none
  // Bits of the keys, kLaneKeys / 32 words to a row: key j is bit j % 32 of [j / 32 * lanes + row].
  const std::uint32_t* allowed = nullptr;  // null: every key
  const std::uint32_t* kept = nullptr;     // by dropout; null: no dropout
  float keep_scale = 1;                    // what a kept weight is multiplied by
};

// What the rows have added up, [lanes] each.
struct LaneSums {
  float* top;    // the largest score so far, -inf before the first
  float* sum;    // of exp(score - top), 0 before the first
  float* decay;  // what the last block multiplied older sums by
};

// Replaces scores by exp(score - top), zero where a key is refused, after dropout, and takes them into the sums (before
// dropout). A score of -inf is as if refused. A NaN or +inf makes the row's sum NaN.
void softmax_lanes(const AttentionLanes& block, float* tile, const LaneSums& rows);

// Takes a further score of each row into the sums, that has weight and no value: a sink.
void softmax_lane_sink(Index lanes, float sink, const LaneSums& rows);

// Replaces scores by their weights exp(score - top) * factor, before dropout, zero where a key is refused.
void weight_lanes(const AttentionLanes& block, const float* top, const float* factor, float* tile);

// Replaces scores by what they are after the cap and, where `bias`, with it, -inf where a key is refused.
void score_lanes(const AttentionLanes& block, float* tile);

// From scores, each row's log-sum-exp `stat`, its `delta`, and dweights = v . dout:
//   tile becomes the weights after dropout,
//   dweights becomes the gradient of the scores before the cap, times `scale`: weight (kept dweight - delta) cap',
//   dbias becomes weight (kept dweight - delta), where it is not null.
void softmax_lanes_gradients(const AttentionLanes& block, const float* stat, const float* delta, float scale,
                             float* tile, float* dweights, float* dbias);

// Adds to flow[row] the sum of weight times kept dweight.
void softmax_lanes_flow(const AttentionLanes& block, const float* stat, const float* tile, const float* dweights,
                        float* flow);

// to[column * lanes + row] = x[row * x_row + column], with zeros in the lanes from `rows` on. x is unit-strided along
// the columns.
void rows_to_lanes(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes);
// x[row * x_row + column] = from[column * lanes + row] * factor[row]; a null factor is 1.
void lanes_to_rows(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                   Index x_row);

// The words of AttentionLanes::kept for keys [first_key, first_key + kLaneKeys): key j of row i is kept where its 16
// bits (attention_dropout_bits) are at least the threshold. first_key is a multiple of 8.
void dropout_lanes(std::uint64_t seed, std::uint64_t stream, Index first_row, Index lanes, Index first_key,
                   std::uint32_t threshold, std::uint32_t* kept);

}  // namespace heed::kernels
