#include "heed/ops/attention/mask.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed {
namespace {

std::optional<Index> narrower(std::optional<Index> a, std::optional<Index> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

void check_bound(const char* caller, const char* name, std::optional<Index> bound) {
  HEED_CHECK(!bound || *bound >= 0, "{}: the window's {} bound must not be negative, but is {}", caller, name, *bound);
}

}  // namespace

Mask Mask::causal(Anchor anchor) { return sliding_window({}, 0, anchor); }

Mask Mask::sliding_window(std::optional<Index> left, std::optional<Index> right, Anchor anchor) {
  check_bound("Mask::sliding_window", "left", left);
  check_bound("Mask::sliding_window", "right", right);
  Mask mask;
  mask.window = Window{left, right, anchor};
  return mask;
}

Mask Mask::key_lengths(ConstView lengths) {
  Mask mask;
  mask.lengths = lengths;
  return mask;
}

Mask Mask::boolean(ConstView allowed) {
  Mask mask;
  mask.allowed = allowed;
  return mask;
}

Mask operator&(const Mask& a, const Mask& b) {
  HEED_CHECK(!(a.allowed && b.allowed), "Mask &: only one side may give a boolean mask, but they are {} and {}",
             describe(a.allowed), describe(b.allowed));
  HEED_CHECK(!(a.lengths && b.lengths), "Mask &: only one side may give key lengths, but they are {} and {}",
             describe(a.lengths), describe(b.lengths));
  Mask both;
  both.allowed = a.allowed ? a.allowed : b.allowed;
  both.lengths = a.lengths ? a.lengths : b.lengths;
  both.window = a.window ? a.window : b.window;
  if (a.window && b.window) {
    HEED_CHECK(a.window->anchor == b.window->anchor, "Mask &: both windows must have the same anchor");
    both.window->left = narrower(a.window->left, b.window->left);
    both.window->right = narrower(a.window->right, b.window->right);
  }
  return both;
}

MaskRows::MaskRows(const Mask& mask, Index batch, Index heads, Index queries, Index keys, const char* caller)
    : mask_(mask), keys_(keys) {
  if (mask.window) {
    check_bound(caller, "left", mask.window->left);
    check_bound(caller, "right", mask.window->right);
    offset_ = mask.window->anchor == Anchor::end ? keys - queries : 0;
  }
  if (const ConstView& lengths = mask.lengths) {
    HEED_CHECK(
        lengths.rank == 1 && lengths.shape[0] == batch && (lengths.dtype == DType::i32 || lengths.dtype == DType::i64),
        "{}: key lengths must be i32 or i64 [B = {}], but are {}", caller, batch, describe(lengths));
  }
  if (const ConstView& allowed = mask.allowed) {
    const auto fits = [&](int axis, Index extent) { return allowed.shape[axis] == extent || allowed.shape[axis] == 1; };
    HEED_CHECK(
        allowed.dtype == DType::boolean && allowed.rank == 4 && fits(0, batch) && fits(1, heads) && fits(2, queries) &&
            allowed.shape[3] == keys && (allowed.stride[3] == 1 || keys <= 1),
        "{}: the boolean mask must be boolean [B | 1, H | 1, Lq | 1, Lk] of [{}, {}, {}, {}] with stride 1 along "
        "the keys, but is {}",
        caller, batch, heads, queries, keys, describe(allowed));
    for (int axis = 0; axis < 3; ++axis) {
      if (allowed.shape[axis] == 1) mask_.allowed.stride[axis] = 0;
    }
  }
}

Index MaskRows::length(Index b) const {
  if (!mask_.lengths) return keys_;
  const Index at = b * mask_.lengths.stride[0];
  const Index length =
      mask_.lengths.dtype == DType::i32 ? mask_.lengths.as<std::int32_t>()[at] : mask_.lengths.as<std::int64_t>()[at];
  return std::clamp<Index>(length, 0, keys_);
}

bool MaskRows::allows(Index b, Index h, Index i, Index j) const {
  if (j >= length(b)) return false;
  if (mask_.window) {
    const Index distance = j - (i + offset_);  // of the key after the query
    if (mask_.window->left && -distance > *mask_.window->left) return false;
    if (mask_.window->right && distance > *mask_.window->right) return false;
  }
  const std::uint8_t* dense = dense_row(b, h, i);
  return dense == nullptr || dense[j] != 0;
}

Range MaskRows::keys(Index b, Index i) const {
  Range range{0, length(b)};
  if (mask_.window) {
    const Index position = i + offset_;
    // A bound may be as large as Index holds: it is compared before it is added or subtracted.
    if (mask_.window->left && *mask_.window->left < position) range.begin = position - *mask_.window->left;
    if (mask_.window->right && *mask_.window->right < range.end - 1 - position) {
      range.end = position + *mask_.window->right + 1;
    }
  }
  return range.empty() ? Range{} : range;
}

Range MaskRows::keys(Index b, Range rows) const {
  if (rows.empty()) return {};
  if (!mask_.window) return keys(b, rows.begin);
  Range hull;
  for (Index i = rows.begin; i < rows.end; ++i) {
    const Range range = keys(b, i);
    if (range.empty()) continue;
    hull = hull.empty() ? range : Range{std::min(hull.begin, range.begin), std::max(hull.end, range.end)};
  }
  return hull;
}

const std::uint8_t* MaskRows::dense_row(Index b, Index h, Index i) const {
  if (!mask_.allowed) return nullptr;
  return mask_.allowed.as<std::uint8_t>() + mask_.allowed.offset({b, h, i});
}

TileCover MaskRows::cover(Index b, Index h, Range rows, Range keys_asked) const {
  bool any = false, every = true;
  for (Index i = rows.begin; i < rows.end && (every || !any); ++i) {
    const Range open = keys(b, i);
    const Range inside{std::max(open.begin, keys_asked.begin), std::min(open.end, keys_asked.end)};
    if (inside.size() < keys_asked.size()) every = false;
    if (inside.empty()) continue;
    const std::uint8_t* dense = dense_row(b, h, i);
    if (dense == nullptr) {
      any = true;
      continue;
    }
    for (Index j = inside.begin; j < inside.end && (every || !any); ++j) {
      any |= dense[j] != 0;
      every &= dense[j] != 0;
    }
  }
  if (!any) return TileCover::none;
  return every ? TileCover::all : TileCover::some;
}

}  // namespace heed
