// How exactly numbers are kept that are computed in f32: a model's weights (heed/tasks/convert.h), and the keys and
// values of tokens that decoding has read (heed/layers/decoding_memory.h).
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/tensor/dtype.h"

namespace heed {

enum class Precision {
  f32,  // as they are computed, which is f64 in a gradient check
  bf16,
  f16,
  int8,  // with a scale for each row: a weight's output, a head's key or value (quantise_rows)
};
inline constexpr std::pair<std::string_view, Precision> kPrecisionNames[] = {
    {"f32", Precision::f32}, {"bf16", Precision::bf16}, {"f16", Precision::f16}, {"int8", Precision::int8}};
inline std::span<const std::pair<std::string_view, Precision>> enum_names(Precision) { return kPrecisionNames; }

// What numbers that are computed in a type are kept in.
inline DType kept_as(Precision precision, DType computed) {
  switch (precision) {
    case Precision::f32:
      return computed;
    case Precision::bf16:
      return DType::bf16;
    case Precision::f16:
      return DType::f16;
    case Precision::int8:
      return DType::i8;
  }
  return computed;
}

}  // namespace heed
