// The element types of views and tensors.
#pragma once

#include <cstdint>
#include <string_view>

#include "heed/base/float16.h"
#include "heed/base/index.h"

namespace heed {

// f64 is the type of the reference and of gradient checks; bf16, f16 and i8 are storage only; boolean is one byte, 0 or
// 1.
enum class DType : std::uint8_t { f32, f64, bf16, f16, i8, i32, i64, boolean };

// Bytes of one element.
constexpr Index size_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::bf16:
    case DType::f16:
      return 2;
    case DType::i8:
    case DType::boolean:
      return 1;
  }
  return 0;
}

constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view kNames[] = {"f32", "f64", "bf16", "f16", "i8", "i32", "i64", "boolean"};
  return kNames[static_cast<int>(dtype)];
}

// Whether numbers of this type are kept in fewer bits than the f32 in which they are reckoned with.
constexpr bool is_narrow(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::i8; }

// The DType of a C++ element type.
template <typename T>
inline constexpr DType kDTypeOf = DType::f32;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::bf16;
template <>
inline constexpr DType kDTypeOf<Float16> = DType::f16;
template <>
inline constexpr DType kDTypeOf<std::int8_t> = DType::i8;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::i32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::i64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::boolean;

}  // namespace heed
