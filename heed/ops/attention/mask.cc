#include "heed/ops/attention/mask.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/check.h"
#include "heed/ops/attention/numbers.h"

namespace heed {
namespace {

constexpr Index kUnbounded = std::numeric_limits<Index>::max();

std::optional<Index> narrower(std::optional<Index> a, std::optional<Index> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

void check_bound(const char* caller, const char* name, std::optional<Index> bound) {
  HEED_CHECK(!bound || *bound >= 0, "{}: the window's {} bound must not be negative, but is {}", caller, name, *bound);
}

void check_given(const char* caller, const ConstView& view) { HEED_CHECK(view, "{}: the view is empty", caller); }

// a - b and a + b for b >= 0, held at the ends of Index.
Index before(Index a, Index b) { return a < std::numeric_limits<Index>::min() + b ? -kUnbounded : a - b; }
Index after(Index a, Index b) { return a > kUnbounded - b ? kUnbounded : a + b; }

void check_centre(const char* caller, const ConstView& centre, const MaskShape& shape) {
  const auto fits = [&](int axis, Index extent) { return centre.shape[axis] == extent || centre.shape[axis] == 1; };
  const bool type = is_integer(centre.dtype) || centre.dtype == DType::f32 || centre.dtype == DType::f64;
  HEED_CHECK(
      type && centre.rank == 3 && fits(0, shape.batch) && fits(1, shape.heads) && centre.shape[2] == shape.queries,
      "{}: the window's centre must be f32, f64, i32 or i64 [B | 1, H | 1, Lq] of [{}, {}, {}], but is {}", caller,
      shape.batch, shape.heads, shape.queries, describe(centre));
}

// Key positions are integers: the window [p - left, p + right] around a real p holds those from ceil to floor.
struct Centre {
  Index first, last;  // ceil(p) and floor(p)
};

Centre centre_at(const ConstView& centre, Index b, Index h, Index i) {
  if (is_integer(centre.dtype)) {
    const Index at = integer_at(centre, {b, h, i});
    return {at, at};
  }
  const double at = centre.dtype == DType::f64 ? centre.at<double>({b, h, i}) : centre.at<float>({b, h, i});
  // What no key can be near, a NaN among them, is an empty window.
  if (!(std::abs(at) < 0x1p52)) return {kUnbounded, -kUnbounded};
  return {static_cast<Index>(std::ceil(at)), static_cast<Index>(std::floor(at))};
}

}  // namespace

Mask Mask::causal(Anchor anchor) { return sliding_window({}, 0, anchor); }

Mask Mask::sliding_window(std::optional<Index> left, std::optional<Index> right, Anchor anchor) {
  check_bound("Mask::sliding_window", "left", left);
  check_bound("Mask::sliding_window", "right", right);
  return {.anchor = anchor, .window = Window{.left = left, .right = right}};
}

Mask Mask::around(ConstView centre, Index radius) {
  check_given("Mask::around", centre);
  check_bound("Mask::around", "outer", radius);
  return {.window = Window{.left = radius, .right = radius, .centre = centre}};
}

Mask Mask::prefix_lm(ConstView prefix, Anchor anchor) {
  check_given("Mask::prefix_lm", prefix);
  return {.anchor = anchor, .window = Window{.right = 0, .prefix = prefix}};
}

Mask Mask::key_lengths(ConstView lengths) {
  check_given("Mask::key_lengths", lengths);
  return {.lengths = lengths};
}

bool Mask::has_positions() const {
  const auto relative = [](const auto& pattern) { return pattern->has_positions(); };
  return (window && !window->centre) || std::any_of(patterns.begin(), patterns.end(), relative);
}

Mask operator&(const Mask& a, const Mask& b) {
  HEED_CHECK(!(a.lengths && b.lengths), "Mask &: only one side may give key lengths, but they are {} and {}",
             describe(a.lengths), describe(b.lengths));
  HEED_CHECK(a.anchor == b.anchor || !a.has_positions() || !b.has_positions(),
             "Mask &: both sides count from the queries' positions, so they must have the same anchor");
  Mask both = a.has_positions() || (a.anchor != Anchor::end && !b.has_positions()) ? a : b;
  both.lengths = a.lengths ? a.lengths : b.lengths;
  both.window = a.window ? a.window : b.window;
  if (a.window && b.window) {
    HEED_CHECK(!a.window->centre && !b.window->centre && !a.window->prefix && !b.window->prefix,
               "Mask &: a window with a centre or a prefix cannot be narrowed by another window");
    both.window->left = narrower(a.window->left, b.window->left);
    both.window->right = narrower(a.window->right, b.window->right);
  }
  both.patterns = a.patterns;
  both.patterns.insert(both.patterns.end(), b.patterns.begin(), b.patterns.end());
  return both;
}

MaskRows::MaskRows(const Mask& mask, const MaskShape& shape, const char* caller) : mask_(mask), shape_(shape) {
  if (mask.lengths) {
    check_integers(caller, "key lengths", mask.lengths, shape.batch);
    for (Index b = 0; b < shape.batch; ++b) {
      HEED_CHECK(length(b) >= 0 && length(b) <= shape.keys,
                 "{}: key lengths must be in [0, Lk = {}], but that of batch element {} is {}", caller, shape.keys, b,
                 length(b));
    }
  }
  HEED_CHECK(mask.anchor != Anchor::length || mask.lengths, "{}: Anchor::length needs key lengths", caller);
  if (mask_.window) {
    Window& window = *mask_.window;
    check_bound(caller, "left", window.left);
    check_bound(caller, "right", window.right);
    if (window.prefix) check_integers(caller, "the window's prefix", window.prefix, shape.batch);
    if (window.centre) {
      check_centre(caller, window.centre, shape);
      for (int axis = 0; axis < 2; ++axis) {
        if (window.centre.shape[axis] == 1) window.centre.stride[axis] = 0;
      }
    }
    gap_ = window.prefix && (window.left || window.centre);
  }
  for (const auto& pattern : mask.patterns) pattern->check(caller, shape);
}

Index MaskRows::length(Index b) const { return mask_.lengths ? integer_at(mask_.lengths, {b}) : shape_.keys; }

Index MaskRows::offset(Index b) const {
  switch (mask_.anchor) {
    case Anchor::start:
      return 0;
    case Anchor::end:
      return shape_.keys - shape_.queries;
    case Anchor::length:
      return length(b) - shape_.queries;
  }
  return 0;
}

MaskRows::Open MaskRows::open(Index b, Index h, Index i) const {
  const Index length = this->length(b);
  if (!mask_.window) return {0, {0, length}};
  const Window& window = *mask_.window;
  const Centre centre = window.centre ? centre_at(window.centre, b, h, i) : Centre{position(b, i), position(b, i)};
  Open open{0, {0, length}};
  if (window.prefix) open.prefix = std::clamp<Index>(integer_at(window.prefix, {b}), 0, length);
  if (window.left) open.window.begin = std::max<Index>(before(centre.first, *window.left), 0);
  if (window.right) open.window.end = std::min(after(after(centre.last, *window.right), 1), length);
  if (open.window.empty()) open.window = {};
  return open;
}

bool MaskRows::allows(Index b, Index h, Index i, Index j) const {
  const Open open = this->open(b, h, i);
  if (j >= open.prefix && (j < open.window.begin || j >= open.window.end)) return false;
  const Query query{i, position(b, i)};
  return std::all_of(mask_.patterns.begin(), mask_.patterns.end(),
                     [&](const auto& pattern) { return pattern->allows(shape_.first_batch + b, h, query, j); });
}

Range MaskRows::keys(Index b, Index h, Index i) const {
  const Open open = this->open(b, h, i);
  if (open.prefix == 0) return open.window;
  return {0, std::max(open.prefix, open.window.end)};
}

Range MaskRows::keys(Index b, Index h, Range rows) const {
  if (rows.empty()) return {};
  if (!mask_.window) return keys(b, h, rows.begin);
  Range hull;
  for (Index i = rows.begin; i < rows.end; ++i) {
    const Range range = keys(b, h, i);
    if (range.empty()) continue;
    hull = hull.empty() ? range : Range{std::min(hull.begin, range.begin), std::max(hull.end, range.end)};
  }
  return hull;
}

// How many of the keys row i may attend to, as far as that can be told without asking each: exact but where a gap or
// several patterns meet, which are asked for each.
Index MaskRows::count(Index b, Index h, Index i, Range asked) const {
  const Range hull = keys(b, h, i);
  const Range inside{std::max(hull.begin, asked.begin), std::min(hull.end, asked.end)};
  if (inside.empty()) return 0;
  if (hull_is_exact()) return inside.size();
  const Query query{i, position(b, i)};
  if (!gap_ && mask_.patterns.size() == 1) return mask_.patterns[0]->count(shape_.first_batch + b, h, query, inside);
  Index count = 0;
  for (Index j = inside.begin; j < inside.end; ++j) count += allows(b, h, i, j);
  return count;
}

TileCover MaskRows::cover(Index b, Index h, Range rows, Range asked) const {
  bool any = false, every = true;
  for (Index i = rows.begin; i < rows.end && (every || !any); ++i) {
    const Index allowed = count(b, h, i, asked);
    any |= allowed > 0;
    every &= allowed == asked.size();
  }
  if (!any) return TileCover::none;
  return every ? TileCover::all : TileCover::some;
}

void MaskRows::fill(Index b, Index h, Index i, Range asked, std::uint8_t* allowed) const {
  const Open open = this->open(b, h, i);
  const auto set = [&](Range range) {
    const Range inside{std::max(range.begin, asked.begin), std::min(range.end, asked.end)};
    if (!inside.empty()) std::fill(allowed + (inside.begin - asked.begin), allowed + (inside.end - asked.begin), 1);
  };
  std::fill_n(allowed, asked.size(), 0);
  set({0, open.prefix});
  set(open.window);
  const Query query{i, position(b, i)};
  for (const auto& pattern : mask_.patterns) pattern->refuse(shape_.first_batch + b, h, query, asked, allowed);
}

}  // namespace heed
