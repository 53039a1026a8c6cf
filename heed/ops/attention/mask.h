// Which keys a query may attend to. Parts intersect: a key is allowed if every part allows it.
//
//   Mask m = Mask::causal() & Mask::key_lengths(lengths);
#pragma once

#include <optional>

#include "heed/base/index.h"
#include "heed/tensor/view.h"

namespace heed {

// Where the diagonal lies when there are more (or fewer) keys than queries.
enum class Anchor {
  end,    // the last query sees the last key: query i stands at key position i + Lk - Lq (FlashAttention; a KV cache)
  start,  // query i stands at key position i (PyTorch)
};

// Keys from `left` before the query's position to `right` after it; an absent bound is no bound. Causal is right = 0.
struct Window {
  std::optional<Index> left, right;
  Anchor anchor = Anchor::end;
};

struct Mask {
  std::optional<Window> window;
  ConstView lengths;  // i32 or i64 [B]: keys j >= lengths[b] are padding
  ConstView allowed;  // boolean [B|1, H|1, Lq|1, Lk]: true means attend

  static Mask causal(Anchor anchor = Anchor::end);
  static Mask sliding_window(std::optional<Index> left, std::optional<Index> right, Anchor anchor = Anchor::end);
  static Mask key_lengths(ConstView lengths);
  static Mask boolean(ConstView allowed);

  // The intersection. Throws heed::Error where both sides give a dense mask, key lengths, or windows with different anchors.
  friend Mask operator&(const Mask& a, const Mask& b);
};

}  // namespace heed
