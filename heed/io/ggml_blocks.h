// The blocks in which ggml packs numbers of four to eight bits, as GGUF files hold them.
//
//   std::vector<float> numbers(256);
//   widen_blocks(StoredType::q4_k, bytes, 1, numbers.data());      // of the 144 bytes of a block
#pragma once

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/io/stored_type.h"

namespace heed {

// Writes the numbers of `count` blocks, f32. In what follows d, m are the f16 numbers of a block, q an integer of as
// many bits as the name says, s, t integers of 6 bits for each 32 numbers (Q6_K: s of 8 bits, signed, for each 16):
//
//   Q4_0, Q5_0, Q8_0   d * (q - 8), d * (q - 16), d * q       32 numbers
//   Q4_1, Q5_1         d * q + m                              32 numbers
//   Q4_K, Q5_K         (d * s) * q - (m * t)                  256 numbers
//   Q6_K               (d * s) * (q - 32)                     256 numbers
//
// each product and sum rounded to f32, as ggml's own definition (dequantize_row_* in ggml-quants.c) rounds them. The
// bytes may lie at any address. Throws heed::Error for a type that is no block.
void widen_blocks(StoredType type, const unsigned char* blocks, Index count, float* to);

}  // namespace heed
