// The type of every size, extent and position, and how sizes go into units.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace heed {

using Index = std::int64_t;

// How many units hold `value`, which is not negative.
template <std::integral T>
constexpr T ceil_div(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit;
}

// The least multiple of `unit` from `value` up.
template <std::integral T>
constexpr T round_up(T value, std::type_identity_t<T> unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace heed
