// The passes of attention over keys that lie far apart, so that each of them is the only one that a row sees of its
// block: a query to each SIMD lane, as in attention_lanes.h, and the same bits as kSoftmaxLanes and gemm_tile give a
// block that has one key.
#pragma once

#include "heed/kernels/attention_lanes.h"

namespace heed::kernels {

// Replaces a part of the scores [keys, lanes] by weights and takes those into the sums, key after key;
// decays[key, lane] is what the key multiplied older sums by. Of the block only the mask is asked.
void softmax_apart(const AttentionLanes& block, const LanePart& part, float* tile, const LaneSums& rows, float* decays);

// out[d, lane] = out[d, lane] * decays[key, lane] + values[key, d] * weights[key, lane], key after key, for a part;
// each product is rounded before it is added.
struct ApartValues {
  Index width = 0, lanes = 0;
  LanePart part;
  const float* values = nullptr;                      // [keys, width]
  Index values_row = 0;                               // floats from key to key
  const float *weights = nullptr, *decays = nullptr;  // [keys, lanes]
  float* out = nullptr;                               // [width, lanes]
};
void add_values_apart(const ApartValues& values);

}  // namespace heed::kernels
