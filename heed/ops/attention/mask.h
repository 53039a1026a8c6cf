// Which keys a query may attend to. Parts intersect: a key is allowed if every part allows it.
//
//   Mask m = Mask::causal() & Mask::key_lengths(lengths);
//   MaskRows rows(m, batch, heads, queries, keys);       // the mask laid over one problem
//   if (rows.cover(b, h, {0, 64}, {0, 32}) == TileCover::none) continue;
#pragma once

#include <cstdint>
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
  std::optional<Index> left{}, right{};
  Anchor anchor = Anchor::end;
};

struct Mask {
  std::optional<Window> window{};
  ConstView lengths{};  // i32 or i64 [B]: keys j >= lengths[b] are padding
  ConstView allowed{};  // boolean [B|1, H|1, Lq|1, Lk], stride 1 along the keys: true means attend

  static Mask causal(Anchor anchor = Anchor::end);
  // Throws heed::Error for a negative bound.
  static Mask sliding_window(std::optional<Index> left, std::optional<Index> right, Anchor anchor = Anchor::end);
  static Mask key_lengths(ConstView lengths);
  static Mask boolean(ConstView allowed);

  // The intersection; two windows of one anchor become the narrower. Throws heed::Error where both sides give a dense
  // mask, key lengths, or windows with different anchors.
  friend Mask operator&(const Mask& a, const Mask& b);
};

// Rows or keys [begin, end).
struct Range {
  Index begin = 0, end = 0;
  Index size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

// What a mask says about a tile: every key refused (skip it), every key allowed (run no mask code), or ask for each.
enum class TileCover { none, all, some };

// A mask laid over one problem [B, H, Lq, Lk]. It refers to the mask's views and copies nothing.
class MaskRows {
 public:
  // Throws heed::Error, naming `caller`, where a part of the mask does not fit the problem.
  MaskRows(const Mask& mask, Index batch, Index heads, Index queries, Index keys, const char* caller = "MaskRows");
  MaskRows() = default;

  // The definition: may query i of head h attend to key j?
  bool allows(Index b, Index h, Index i, Index j) const;
  // The keys that the window and the lengths leave to row i; empty where they leave none. The dense part is not asked.
  Range keys(Index b, Index i) const;
  // The hull of keys(b, i) over rows.
  Range keys(Index b, Range rows) const;
  // The dense part of a row: one byte for each key, zero for refused; null where there is no dense part.
  const std::uint8_t* dense_row(Index b, Index h, Index i) const;
  // What the mask says about rows x keys; exact. An empty tile is `none`.
  TileCover cover(Index b, Index h, Range rows, Range keys) const;

 private:
  Index length(Index b) const;

  Mask mask_;
  Index keys_ = 0;
  Index offset_ = 0;  // query i stands at key position i + offset_
};

}  // namespace heed
