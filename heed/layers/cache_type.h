// In what type decoding keeps the keys and values of tokens that it has read.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/tensor/dtype.h"

namespace heed {

enum class CacheType {
  f32,  // as they are computed, which is f64 in a gradient check
  bf16,
  f16,
  int8,  // with a scale for each row of a head (quantise_rows)
};
inline constexpr std::pair<std::string_view, CacheType> kCacheTypeNames[] = {
    {"f32", CacheType::f32}, {"bf16", CacheType::bf16}, {"f16", CacheType::f16}, {"int8", CacheType::int8}};
inline std::span<const std::pair<std::string_view, CacheType>> enum_names(CacheType) { return kCacheTypeNames; }

// What numbers that are computed in a type are kept in.
inline DType kept_as(CacheType cache, DType computed) {
  switch (cache) {
    case CacheType::f32:
      return computed;
    case CacheType::bf16:
      return DType::bf16;
    case CacheType::f16:
      return DType::f16;
    case CacheType::int8:
      return DType::i8;
  }
  return computed;
}

}  // namespace heed
