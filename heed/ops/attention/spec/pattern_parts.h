// What patterns have in common: what is checked of their numbers, how a tile is judged, and the mask of one of them.
#pragma once

#include <memory>
#include <utility>

#include "heed/base/check.h"
#include "heed/ops/attention/spec/mask.h"
#include "heed/ops/attention/spec/mask_pattern.h"

namespace heed {

// What is farther than any position acts the same, and sums and products of two of these do not overflow.
inline constexpr Index kFarthest = kMostPositions;

inline void check_positive(const char* pattern, const char* name, Index value) {
  HEED_CHECK(value >= 1, "Mask::{}: {} must be at least 1, but is {}", pattern, name, value);
}

inline void check_not_negative(const char* pattern, const char* name, Index value) {
  HEED_CHECK(value >= 0, "Mask::{}: {} must not be negative, but is {}", pattern, name, value);
}

inline void check_reach(const char* pattern, const char* name, Index value) {
  HEED_CHECK(value <= kFarthest, "Mask::{}: {} must be at most {}, but is {}", pattern, name, kFarthest, value);
}

// Judges a tile by what its first row allows, and those that next(r) leads to, until the answer is known.
template <typename Next>
TileCover cover_of_rows(const MaskPattern& pattern, Index b, Index h, Query first, Index rows, Range keys, Next next) {
  bool any = false, every = true;
  for (Index r = 0; r < rows && (every || !any); r = next(r)) {
    const Index allowed = pattern.count(b, h, {first.row + r, first.position + r}, keys);
    any |= allowed > 0, every &= allowed == keys.size();
  }
  return !any ? TileCover::none : every ? TileCover::all : TileCover::some;
}

template <typename Pattern, typename... Arguments>
Mask mask_of(Arguments&&... arguments) {
  Mask mask;
  mask.patterns.push_back(std::make_shared<Pattern>(std::forward<Arguments>(arguments)...));
  return mask;
}

}  // namespace heed
