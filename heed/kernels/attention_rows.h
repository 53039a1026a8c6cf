// The passes of attention over the rows of a score tile that lies in cache, but for the normaliser's
// (attention_normaliser.h).
#pragma once

#include <cstdint>
#include <limits>

#include "heed/base/float16.h"
#include "heed/base/index.h"

namespace heed::kernels {

// Tiles are row-major with `stride` floats to a row, a multiple of kAttentionLanes; column c stands for key first_key +
// c, where first_key is such a multiple too: a key is in the same SIMD lane wherever a tile begins, and the sums of a
// row do not depend on it. What lies in a tile beyond `columns` may be read, is never used, and is set to zero.
inline constexpr Index kAttentionLanes = 16;

// What turns products q . k into the scores of one tile. Pointers point at the tile's first row and column.
struct AttentionRows {
  Index rows = 0, columns = 0, stride = 0;
  float scale = 1;                                       // of the products
  float cap = 0;                                         // x becomes cap * tanh(x / cap); 0: no cap
  const float* bias = nullptr;                           // in the layout of the tile: added after the cap; null: none
  float sink = -std::numeric_limits<float>::infinity();  // a further score of each row, that takes weight
  const Index* begin = nullptr;  // [rows]: columns in [begin[r], end[r]) may be allowed, all others are refused
  const Index* end = nullptr;
  const std::uint8_t* allowed = nullptr;  // bytes, zero for refused; null: all allowed
  Index allowed_row = 0;
  const std::uint16_t* bits = nullptr;  // dropout bits in the layout of the tile; null: no dropout
  std::uint32_t threshold = 0;          // a weight is kept where its bits are at least this
  float keep_scale = 1;                 // and multiplied by this
};

// Replaces products by what they are after scale and cap.
void attention_score_rows(const AttentionRows& rows, float* tile);

// tile = kept ? tile * keep_scale : 0.
void attention_drop_rows(const AttentionRows& rows, float* tile);

// result[r] = sum_c a[r, c] b[r, c]. Rows of any stride, unit stride along c.
void attention_row_dots(Index rows, Index columns, const float* a, Index a_row, const float* b, Index b_row,
                        float* result);

// Whether an element is NaN.
bool attention_any_nan(Index rows, Index columns, const float* x, Index row);
bool attention_any_nan(Index rows, Index columns, const BFloat16* x, Index row);
bool attention_any_nan(Index rows, Index columns, const Float16* x, Index row);

// Fills bits[r * stride + c] for c < columns rounded up to 8: 16 bits of philox(seed, stream, (first_row + r) * 2^32 +
// (first_key + c) / 8), the low (c even) or high half of word c % 8 / 2. first_key is a multiple of 8.
void attention_dropout_bits(std::uint64_t seed, std::uint64_t stream, Index first_row, Index rows, Index first_key,
                            Index columns, std::uint16_t* bits, Index stride);

}  // namespace heed::kernels
