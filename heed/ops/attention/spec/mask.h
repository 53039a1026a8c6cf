// Which keys a query may attend to. Parts intersect: a key is allowed if every part allows it.
//
//   Mask m = Mask::causal() & Mask::key_lengths(lengths) & Mask::longformer({.radius = 64, .global = 1});
//   MaskRows rows(m, {batch, heads, queries, keys});     // the mask laid over one problem
//   if (rows.cover(rows.tile(b, h, {0, 64}), {0, 32}) == TileCover::none) continue;
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "heed/base/index.h"
#include "heed/ops/attention/spec/mask_pattern.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Where the queries stand among the keys: what windows, patterns and relative biases count from.
enum class Anchor {
  end,     // the last query at the last key: query i at key position i + Lk - Lq ("bottom-right"; FlashAttention, a KV
           // cache)
  start,   // query i at key position i ("top-left"; PyTorch)
  length,  // the last query at the last key within key_lengths: i + lengths[b] - Lq (a padded KV cache; ONNX's
           // nonpad_kv_seqlen)
};

// Keys from `left` before the query's centre to `right` after it; an absent bound is no bound. Causal is right = 0.
struct Window {
  std::optional<Index> left{}, right{};
  // What the window lies around: f32, f64, i32 or i64 [B|1, H|1, Lq] key positions (Luong et al. 2015, section 3.2,
  // local-m and local-p); empty: the query's own position.
  Tensor centre{};
  // Keys that are open whatever the window says: the first prefix[b], i32 or i64 [B] (prefix-LM); empty: none.
  Tensor prefix{};
};

// Child et al. 2019, section 4.3, "strided": a query sees the `stride` positions around it and every stride-th one.
struct Strided {
  Index stride = 1;
};

// Child et al. 2019, "fixed": a query sees its own block and the last `summary` positions of every block.
struct Fixed {
  Index block = 1, summary = 1;
};

// Beltagy et al. 2020: keys within radius * dilation, every dilation-th one; the first `global` positions see and are
// seen by all.
struct Longformer {
  Index radius = 0, global = 0, dilation = 1;
};

// Zaheer et al. 2020, in blocks of positions: `window` blocks around the query's own (odd), the first `global` blocks
// seeing and seen by all, and `random` further blocks for each block of queries and head, drawn from the blocks of
// `positions` positions by (seed, head, block): a number that is given, so that padding cannot move the draw.
struct BigBird {
  Index block = 64, window = 3, global = 1, random = 3, positions = 4096;
  std::uint64_t seed = 0;
};

// A window, or key lengths, beside those that a mask has already.
struct KeyInterval {
  std::optional<Window> window{};
  Tensor lengths{};
};

struct Mask {
  Anchor anchor = Anchor::end;
  std::optional<Window> window{};
  Tensor lengths{};  // i32 or i64 [B], each in [0, Lk]: keys j >= lengths[b] are padding; Anchor::length's
  std::vector<std::shared_ptr<const MaskPattern>> patterns{};
  std::vector<KeyInterval> further{};  // what & could not make one with the window and the lengths above

  static Mask causal(Anchor anchor = Anchor::end);
  // Throws heed::Error for a negative bound, here and below.
  static Mask sliding_window(std::optional<Index> left, std::optional<Index> right, Anchor anchor = Anchor::end);
  // Keys within `radius` of a centre for each query (see Window::centre).
  static Mask around(Tensor centre, Index radius);
  // Causal, but for the first prefix[b] keys, which every query sees (Raffel et al. 2020, fig. 3).
  static Mask prefix_lm(Tensor prefix, Anchor anchor = Anchor::end);
  static Mask key_lengths(Tensor lengths);

  // allowed: boolean [B|1, H|1, Lq|1, Lk|1]: true means attend.
  static Mask boolean(Tensor allowed);
  // Documents packed into one row: a query sees the keys of its own segment. i32 or i64 [B|1, Lq] and [B|1, Lk].
  static Mask segments(Tensor of_queries, Tensor of_keys);
  static Mask strided(Strided pattern);
  static Mask fixed(Fixed pattern);
  static Mask longformer(Longformer pattern);
  static Mask bigbird(BigBird pattern);
  // Tiles of rows x keys that are open whole: boolean [H|1, ceil(Lq / rows), ceil(Lk / keys)].
  static Mask tiles(Tensor open, Index rows, Index keys);
  // Whatever the function says of (b, h, i, j). It is asked often and from many threads: pure, and cheap if it can be.
  static Mask predicate(std::function<bool(Index b, Index h, Index i, Index j)> allows);

  // The intersection: a key is allowed where both sides allow it. Windows around the same centre and with the same
  // prefix become the narrower one. Throws heed::Error where both sides count from the queries' positions, and those
  // differ: by the anchor, or under Anchor::length by the key lengths. (A side that counts from key lengths but has
  // none takes the other's.)
  friend Mask operator&(const Mask& a, const Mask& b);

  // Whether a part depends on where the queries stand.
  bool has_positions() const;
  // Whether there is no part: every key is allowed.
  bool is_open() const { return !window && !lengths && patterns.empty() && further.empty(); }
};

// Rows of a head, which are asked about block after block of keys.
struct MaskTile {
  Index b = 0, h = 0;
  Range rows{};
  Range hull{};  // of the keys that windows and lengths leave to any of the rows; patterns are not asked
  Range core{};  // the keys of the hulls of all of them
};

// A mask laid over one problem. It shares the mask's tensors and patterns and copies none of their numbers.
class MaskRows {
 public:
  // Throws heed::Error, naming `caller`, where a part of the mask does not fit the problem.
  MaskRows(const Mask& mask, const MaskShape& shape, const char* caller = "MaskRows");
  MaskRows() = default;

  // The definition: may query i of head h attend to key j?
  bool allows(Index b, Index h, Index i, Index j) const;
  // The hull of the keys that windows and lengths leave to row i; empty where they leave none. Patterns are not asked.
  Range keys(Index b, Index h, Index i) const;
  // Leaves keys(b, h, i) of each row in of_rows, unless that is null.
  MaskTile tile(Index b, Index h, Range rows, Range* of_rows = nullptr) const;
  // Whether keys(b, h, i) is all there is: no pattern, and no window with a gap after a prefix.
  bool hull_is_exact() const { return mask_.patterns.empty() && !gap_; }
  // Whether two heads are known to see the same keys from the same rows.
  bool alike(Index b, Index h, Index other_b, Index other_h) const {
    return (b == other_b || !by_batch_) && (h == other_h || !by_head_);
  }
  // The pattern, where the mask is one that repeats and nothing else but a causal window, and query i stands at key
  // position i.
  std::optional<PeriodicKeys> periodic() const;
  // Whether there is a window (see periodic()).
  bool has_window() const { return windows_; }
  // What the mask says about the tile's rows x keys; exact. Of no rows or keys: `none`.
  TileCover cover(const MaskTile& tile, Range keys) const;
  // allowed[j - keys.begin] = 1 where key j is allowed to row i, else 0.
  void fill(Index b, Index h, Index i, Range keys, std::uint8_t* allowed) const;
  // What is refused beside the keys that keys(b, h, i) leaves out: clears bit j - keys.begin of allowed[i - rows.begin]
  // where patterns, or a gap, refuse row i key j. At most 64 keys.
  void refuse_within_hulls(Index b, Index h, Range rows, Range keys, std::uint64_t* allowed) const;

  // Where query i of batch element b stands among the keys.
  Index position(Index b, Index i) const { return i + offset(b); }
  // The least of all key lengths of b, or Lk.
  Index length(Index b) const;

 private:
  // What a window leaves of the keys before the length: a hull, but for a gap in it.
  struct Open {
    Range hull, gap;
  };
  // What the rows of a batch element have in common.
  struct Laid {
    Index b, h, length, offset;
  };
  Laid laid(Index b, Index h) const { return {b, h, length(b), offset(b)}; }
  Index offset(Index b) const;
  Open open(const Window& window, const Laid& laid, Index i) const;
  Range keys(const Laid& laid, Index i) const;
  // Calls f(window) for each window.
  template <typename F>
  void for_windows(const F& f) const;
  Index count(Index b, Index h, Index i, Range keys) const;

  Mask mask_;
  MaskShape shape_;
  bool windows_ = false;                     // there is a window
  bool gap_ = false;                         // one may leave a gap after its prefix
  bool by_batch_ = false, by_head_ = false;  // what a row sees may depend on its batch element, on its head
};

}  // namespace heed
