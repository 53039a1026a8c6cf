// The types of numbers in files of weights, heed's and those that become one of heed's when they are read.
//
//   name_of(stored(BlockType::q4_k)) == "Q4_K";
//   dtype_of(stored(BlockType::q4_k)) == DType::f32;             // what its numbers are read as
//   blocks_of(stored(BlockType::q4_k)) == BlockType::q4_k;
//   Index bytes = stored_bytes(stored(BlockType::q4_k), std::vector<Index>{512, 256}, "m.gguf: blk.0.attn_q.weight");
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/tensor/blocks.h"
#include "heed/tensor/dtype.h"

namespace heed {

// First heed's own, in the order of DType; then integers that heed widens, without loss; then ggml's blocks of numbers
// that share scales (heed/tensor/blocks.h).
enum class StoredType : std::uint8_t {
  f32,
  f64,
  bf16,
  f16,
  i8,
  i32,
  i64,
  boolean,
  u8,
  i16,
  u16,
  u32,
  first_of_blocks  // and the others behind it, in the order of BlockType: stored(BlockType::q4_k)
};

constexpr StoredType stored(DType dtype) { return static_cast<StoredType>(dtype); }
constexpr StoredType stored(BlockType type) {  // not none
  return static_cast<StoredType>(static_cast<int>(StoredType::first_of_blocks) + static_cast<int>(type) - 1);
}

// "bf16", "u8", "Q4_K": heed's names, and ggml's for its own.
std::string_view name_of(StoredType type);

// The type in which heed has these numbers: i32 for u8, i16 and u16, i64 for u32, f32 for blocks.
DType dtype_of(StoredType type);

// Whether numbers lie in a file as heed has them in memory.
constexpr bool is_own(StoredType type) { return type <= StoredType::boolean; }

// The blocks that numbers come in, along the last axis.
constexpr BlockType blocks_of(StoredType type) {
  return type < StoredType::first_of_blocks
             ? BlockType::none
             : static_cast<BlockType>(static_cast<int>(type) - static_cast<int>(StoredType::first_of_blocks) + 1);
}

// The bytes of a row-major array in a file. Throws heed::Error that begins with `where` for a shape that checked_bytes
// refuses (of the type that it is read as), and where the last extent is not whole blocks.
Index stored_bytes(StoredType type, std::span<const Index> shape, std::string_view where);

}  // namespace heed
