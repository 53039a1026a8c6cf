#include "heed/io/stored_type.h"

#include "heed/base/check.h"
#include "heed/tensor/shape_bytes.h"

namespace heed {
namespace {

// Of what comes one by one.
struct Traits {
  std::string_view name;
  DType dtype;
  Index bytes;
};
constexpr Traits kTraits[] = {
    {"f32", DType::f32, 4}, {"f64", DType::f64, 8}, {"bf16", DType::bf16, 2}, {"f16", DType::f16, 2},
    {"i8", DType::i8, 1},   {"i32", DType::i32, 4}, {"i64", DType::i64, 8},   {"boolean", DType::boolean, 1},
    {"u8", DType::i32, 1},  {"i16", DType::i32, 2}, {"u16", DType::i32, 2},   {"u32", DType::i64, 4},
};
static_assert(std::size(kTraits) == static_cast<std::size_t>(StoredType::first_of_blocks));
static_assert(kTraits[static_cast<int>(StoredType::boolean)].dtype == DType::boolean);
static_assert(blocks_of(stored(BlockType::q4_0)) == BlockType::q4_0 && blocks_of(StoredType::u32) == BlockType::none);

const Traits& traits_of(StoredType type) { return kTraits[static_cast<int>(type)]; }
bool is_packed(StoredType type) { return blocks_of(type) != BlockType::none; }

}  // namespace

std::string_view name_of(StoredType type) { return is_packed(type) ? name_of(blocks_of(type)) : traits_of(type).name; }

DType dtype_of(StoredType type) { return is_packed(type) ? DType::f32 : traits_of(type).dtype; }

Index stored_bytes(StoredType type, std::span<const Index> shape, std::string_view where) {
  const Index numbers = checked_bytes(dtype_of(type), shape, where) / size_of(dtype_of(type));
  if (!is_packed(type)) return numbers * traits_of(type).bytes;
  const Index block = layout_of(blocks_of(type)).numbers, width = shape.empty() ? 1 : shape.back();
  HEED_CHECK(width % block == 0, "{}: a row of {} must be of whole blocks of {} numbers, but has {}", where,
             name_of(type), block, width);
  return bytes_of_row(blocks_of(type), numbers);
}

}  // namespace heed
