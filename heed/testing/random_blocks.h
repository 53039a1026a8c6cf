// Weights in blocks of any bits, but for their f16 numbers, which are finite.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/random.h"
#include "heed/tensor/blocks.h"
#include "heed/tensor/tensor.h"

namespace heed::testing {

inline constexpr BlockType kBlockTypes[] = {BlockType::q4_0, BlockType::q4_1, BlockType::q5_0,   BlockType::q5_1,
                                            BlockType::q8_0, BlockType::q4_k, BlockType::q5_k,   BlockType::q6_k,
                                            BlockType::q2_k, BlockType::q3_k, BlockType::iq4_nl, BlockType::iq4_xs};

// Where a block of this type has its f16 numbers.
inline std::vector<Index> halves_of(BlockType type) {
  switch (type) {
    case BlockType::q4_1:
    case BlockType::q5_1:
    case BlockType::q4_k:
    case BlockType::q5_k:
      return {0, 2};
    case BlockType::q6_k:
      return {208};
    case BlockType::q2_k:
      return {80, 82};
    case BlockType::q3_k:
      return {108};
    default:
      return {0};
  }
}

// The bytes of a matrix, i8 [rows, bytes of a row], of rows of whole blocks.
inline Tensor random_blocks(BlockType type, Index rows, Index numbers, std::uint64_t seed) {
  const Tensor bytes = Tensor::empty(DType::i8, {rows, bytes_of_row(type, numbers)});
  auto* const data = bytes.data<unsigned char>();
  Rng rng(seed);
  for (Index i = 0; i < bytes.size(); ++i) data[i] = static_cast<unsigned char>(rng.below(256));
  // The largest exponent of an f16 number stands for infinity and NaN: without three of its bits it is another, and
  // small, as those of weights are.
  for (Index block = 0; block < bytes.size(); block += layout_of(type).bytes) {
    for (Index half : halves_of(type)) data[block + half + 1] &= 0xAB;
  }
  return bytes;
}

}  // namespace heed::testing
