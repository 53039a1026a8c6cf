#include "heed/io/stored_type.h"

#include "heed/base/check.h"
#include "heed/tensor/shape_bytes.h"

namespace heed {
namespace {

struct Traits {
  std::string_view name;
  DType dtype;
  StoredBlock block;
};

constexpr Traits kTraits[] = {
    {"f32", DType::f32, {1, 4}},      {"f64", DType::f64, {1, 8}},         {"bf16", DType::bf16, {1, 2}},
    {"f16", DType::f16, {1, 2}},      {"i8", DType::i8, {1, 1}},           {"i32", DType::i32, {1, 4}},
    {"i64", DType::i64, {1, 8}},      {"boolean", DType::boolean, {1, 1}}, {"u8", DType::i32, {1, 1}},
    {"i16", DType::i32, {1, 2}},      {"u16", DType::i32, {1, 2}},         {"u32", DType::i64, {1, 4}},
    {"Q4_0", DType::f32, {32, 18}},   {"Q4_1", DType::f32, {32, 20}},      {"Q5_0", DType::f32, {32, 22}},
    {"Q5_1", DType::f32, {32, 24}},   {"Q8_0", DType::f32, {32, 34}},      {"Q4_K", DType::f32, {256, 144}},
    {"Q5_K", DType::f32, {256, 176}}, {"Q6_K", DType::f32, {256, 210}},
};
static_assert(std::size(kTraits) == static_cast<std::size_t>(StoredType::q6_k) + 1);
static_assert(kTraits[static_cast<int>(StoredType::boolean)].dtype == DType::boolean);

const Traits& traits_of(StoredType type) { return kTraits[static_cast<int>(type)]; }

}  // namespace

std::string_view name_of(StoredType type) { return traits_of(type).name; }

DType dtype_of(StoredType type) { return traits_of(type).dtype; }

StoredBlock block_of(StoredType type) { return traits_of(type).block; }

Index stored_bytes(StoredType type, std::span<const Index> shape, std::string_view where) {
  const auto [name, dtype, block] = traits_of(type);
  const Index elements = checked_bytes(dtype, shape, where) / size_of(dtype);
  const Index width = shape.empty() ? 1 : shape.back();
  HEED_CHECK(width % block.elements == 0, "{}: a row of {} must be of whole blocks of {} numbers, but has {}", where,
             name, block.elements, width);
  return elements / block.elements * block.bytes;
}

}  // namespace heed
