#include "heed/ops/attention/spec/mask.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/check.h"
#include "heed/ops/attention/spec/key_bits.h"
#include "heed/tensor/numbers.h"

namespace heed {
namespace {

constexpr Index kUnbounded = std::numeric_limits<Index>::max();

std::optional<Index> narrower(std::optional<Index> a, std::optional<Index> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

bool same_numbers(const Tensor& one, const Tensor& other) {
  const ConstView &a = one.view(), &b = other.view();
  return (a.empty() && b.empty()) ||
         (a.data == b.data && a.dtype == b.dtype && same_shape(a, b) && a.stride == b.stride);
}

std::string_view name_of(Anchor anchor) {
  return anchor == Anchor::end ? "end" : anchor == Anchor::start ? "start" : "length";
}

void add_window(Mask& mask, const Window& window) {
  const auto narrow = [&](std::optional<Window>& own) {
    if (!own || !same_numbers(own->centre, window.centre) || !same_numbers(own->prefix, window.prefix)) return false;
    own->left = narrower(own->left, window.left);
    own->right = narrower(own->right, window.right);
    return true;
  };
  if (narrow(mask.window)) return;
  for (KeyInterval& more : mask.further) {
    if (narrow(more.window)) return;
  }
  if (!mask.window) {
    mask.window = window;
  } else {
    mask.further.push_back({.window = window});
  }
}

void add_lengths(Mask& mask, const Tensor& lengths) {
  if (same_numbers(mask.lengths, lengths)) return;
  for (const KeyInterval& more : mask.further) {
    if (same_numbers(more.lengths, lengths)) return;
  }
  if (!mask.lengths) {
    mask.lengths = lengths;
  } else {
    mask.further.push_back({.lengths = lengths});
  }
}

void check_bound(const char* caller, const char* name, std::optional<Index> bound) {
  HEED_CHECK(!bound || *bound >= 0, "{}: the window's {} bound must not be negative, but is {}", caller, name, *bound);
}

void check_given(const char* caller, const Tensor& tensor) { HEED_CHECK(tensor, "{}: the tensor is empty", caller); }

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

void check_lengths(const char* caller, const ConstView& lengths, const MaskShape& shape) {
  if (!lengths) return;
  check_integers(caller, "key lengths", lengths, shape.batch);
  for (Index b = 0; b < shape.batch; ++b) {
    const Index length = integer_at(lengths, {b});
    HEED_CHECK(length >= 0 && length <= shape.keys,
               "{}: key lengths must be in [0, Lk = {}], but that of batch element {} is {}", caller, shape.keys, b,
               length);
  }
}

void check_window(const char* caller, const Window& window, const MaskShape& shape) {
  check_bound(caller, "left", window.left);
  check_bound(caller, "right", window.right);
  if (window.prefix) check_integers(caller, "the window's prefix", window.prefix.view(), shape.batch);
  if (window.centre) check_centre(caller, window.centre.view(), shape);
}

bool contains(Range range, Index j) { return range.begin <= j && j < range.end; }

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

Mask Mask::around(Tensor centre, Index radius) {
  check_given("Mask::around", centre);
  check_bound("Mask::around", "outer", radius);
  return {.window = Window{.left = radius, .right = radius, .centre = std::move(centre)}};
}

Mask Mask::prefix_lm(Tensor prefix, Anchor anchor) {
  check_given("Mask::prefix_lm", prefix);
  return {.anchor = anchor, .window = Window{.right = 0, .prefix = std::move(prefix)}};
}

Mask Mask::key_lengths(Tensor lengths) {
  check_given("Mask::key_lengths", lengths);
  return {.lengths = std::move(lengths)};
}

bool Mask::has_positions() const {
  const auto counts = [](const std::optional<Window>& any) { return any && !any->centre; };
  return counts(window) ||
         std::any_of(further.begin(), further.end(), [&](const auto& more) { return counts(more.window); }) ||
         std::any_of(patterns.begin(), patterns.end(), [](const auto& pattern) { return pattern->has_positions(); });
}

Mask operator&(const Mask& a, const Mask& b) {
  const bool both_count = a.has_positions() && b.has_positions();
  HEED_CHECK(a.anchor == b.anchor || !both_count,
             "Mask &: both sides count from the queries' positions, so they must have the same anchor, but have {} "
             "and {}",
             name_of(a.anchor), name_of(b.anchor));
  HEED_CHECK(
      a.anchor != Anchor::length || !both_count || !a.lengths || !b.lengths || same_numbers(a.lengths, b.lengths),
      "Mask &: both sides count from the last key within their key lengths, so these must be one view, but are "
      "{} and {}",
      describe(a.lengths.view()), describe(b.lengths.view()));
  // The side whose anchor stands gives the lengths that it counts from.
  const bool of_a = a.has_positions() || (a.anchor != Anchor::end && !b.has_positions());
  Mask both = of_a ? a : b;
  const Mask& other = of_a ? b : a;
  if (other.window) add_window(both, *other.window);
  if (other.lengths) add_lengths(both, other.lengths);
  for (const KeyInterval& more : other.further) {
    if (more.window) add_window(both, *more.window);
    if (more.lengths) add_lengths(both, more.lengths);
  }
  both.patterns = a.patterns;
  both.patterns.insert(both.patterns.end(), b.patterns.begin(), b.patterns.end());
  return both;
}

MaskRows::MaskRows(const Mask& mask, const MaskShape& shape, const char* caller) : mask_(mask), shape_(shape) {
  check_lengths(caller, mask.lengths.view(), shape);
  for (const KeyInterval& more : mask.further) check_lengths(caller, more.lengths.view(), shape);
  HEED_CHECK(mask.anchor != Anchor::length || mask.lengths, "{}: Anchor::length needs key lengths", caller);
  const auto take = [&](std::optional<Window>& window) {
    if (!window) return;
    check_window(caller, *window, shape);
    window->centre = window->centre.through(broadcast_axes(window->centre.view(), 2));
    windows_ = true;
    gap_ |= window->prefix && (window->left || window->centre);
    by_head_ |= bool{window->centre};
    by_batch_ |= window->centre || window->prefix;
  };
  take(mask_.window);
  for (KeyInterval& more : mask_.further) take(more.window);
  for (const auto& pattern : mask.patterns) pattern->check(caller, shape);
  const auto has_lengths = [](const KeyInterval& more) { return bool{more.lengths}; };
  by_head_ |= !mask.patterns.empty();
  by_batch_ |= by_head_ || mask.lengths || std::any_of(mask.further.begin(), mask.further.end(), has_lengths);
}

Index MaskRows::length(Index b) const {
  Index length = mask_.lengths ? integer_at(mask_.lengths.view(), {b}) : shape_.keys;
  for (const KeyInterval& more : mask_.further) {
    if (more.lengths) length = std::min(length, integer_at(more.lengths.view(), {b}));
  }
  return length;
}

Index MaskRows::offset(Index b) const {
  switch (mask_.anchor) {
    case Anchor::start:
      return 0;
    case Anchor::end:
      return shape_.keys - shape_.queries;
    case Anchor::length:
      return integer_at(mask_.lengths.view(), {b}) - shape_.queries;
  }
  return 0;
}

template <typename F>
void MaskRows::for_windows(const F& f) const {
  if (mask_.window) f(*mask_.window);
  for (const KeyInterval& more : mask_.further) {
    if (more.window) f(*more.window);
  }
}

std::optional<PeriodicKeys> MaskRows::periodic() const {
  const bool alone = mask_.patterns.size() == 1 && mask_.further.empty() && !mask_.lengths;
  const bool at_start = mask_.anchor == Anchor::start || shape_.queries == shape_.keys;
  if (!alone || !at_start) return {};
  if (mask_.window) {
    const auto& [left, right, centre, prefix] = *mask_.window;
    if (left || right != 0 || centre || prefix) return {};
  }
  return mask_.patterns[0]->periodic();
}

MaskRows::Open MaskRows::open(const Window& window, const Laid& laid, Index i) const {
  const auto [b, h, length, offset] = laid;
  const Centre centre = window.centre ? centre_at(window.centre.view(), b, h, i) : Centre{i + offset, i + offset};
  const Index prefix = window.prefix ? std::clamp<Index>(integer_at(window.prefix.view(), {b}), 0, length) : 0;
  Range near{0, length};
  if (window.left) near.begin = std::max<Index>(before(centre.first, *window.left), 0);
  if (window.right) near.end = std::min(after(after(centre.last, *window.right), 1), length);
  if (near.empty()) near = {};
  if (prefix == 0) return {near, {}};
  return {{0, std::max(prefix, near.end)}, {prefix, near.begin}};
}

bool MaskRows::allows(Index b, Index h, Index i, Index j) const {
  const Laid laid = this->laid(b, h);
  bool inside = j < laid.length;
  for_windows([&](const Window& window) {
    const Open open = this->open(window, laid, i);
    inside = inside && contains(open.hull, j) && !contains(open.gap, j);
  });
  if (!inside) return false;
  const Query query{i, position(b, i)};
  return std::all_of(mask_.patterns.begin(), mask_.patterns.end(),
                     [&](const auto& pattern) { return pattern->allows(shape_.first_batch + b, h, query, j); });
}

Range MaskRows::keys(const Laid& laid, Index i) const {
  Range hull{0, laid.length};
  for_windows([&](const Window& window) { hull = intersect(hull, open(window, laid, i).hull); });
  return hull;
}

Range MaskRows::keys(Index b, Index h, Index i) const { return keys(laid(b, h), i); }

MaskTile MaskRows::tile(Index b, Index h, Range rows, Range* of_rows) const {
  MaskTile tile{b, h, rows};
  if (rows.empty()) return tile;
  const Laid laid = this->laid(b, h);
  tile.hull = tile.core = keys(laid, rows.begin);
  if (of_rows != nullptr) std::fill_n(of_rows, rows.size(), tile.hull);
  for (Index i = rows.begin + 1; windows_ && i < rows.end; ++i) {
    const Range range = keys(laid, i);
    if (of_rows != nullptr) of_rows[i - rows.begin] = range;
    tile.core = intersect(tile.core, range);
    if (range.empty()) continue;
    const Range hull = tile.hull.empty() ? range : tile.hull;
    tile.hull = {std::min(hull.begin, range.begin), std::max(hull.end, range.end)};
  }
  return tile;
}

// How many of the keys row i may attend to, as far as that can be told without asking each: exact but where a gap or
// several patterns meet, which are asked for each.
Index MaskRows::count(Index b, Index h, Index i, Range asked) const {
  const Range inside = intersect(keys(b, h, i), asked);
  if (inside.empty()) return 0;
  if (hull_is_exact()) return inside.size();
  const Query query{i, position(b, i)};
  if (!gap_ && mask_.patterns.size() == 1) return mask_.patterns[0]->count(shape_.first_batch + b, h, query, inside);
  Index count = 0;
  for (Index j = inside.begin; j < inside.end; ++j) count += allows(b, h, i, j);
  return count;
}

TileCover MaskRows::cover(const MaskTile& tile, Range asked) const {
  const auto& [b, h, rows, hull, core] = tile;
  if (rows.empty() || asked.empty()) return TileCover::none;
  // Where windows and lengths leave all of it, one pattern speaks for its rows at once.
  if (!gap_ && mask_.patterns.size() == 1 && intersect(core, asked) == asked) {
    const Query first{rows.begin, position(b, rows.begin)};
    return mask_.patterns[0]->cover(shape_.first_batch + b, h, first, rows.size(), asked);
  }
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
  const auto set = [&](Range range, std::uint8_t value) {
    const Range inside = intersect(range, asked);
    std::fill_n(allowed + (inside.empty() ? 0 : inside.begin - asked.begin), inside.size(), value);
  };
  std::fill_n(allowed, asked.size(), 0);
  set(keys(b, h, i), 1);
  if (gap_) for_windows([&](const Window& window) { set(open(window, laid(b, h), i).gap, 0); });
  const Query query{i, position(b, i)};
  for (const auto& pattern : mask_.patterns) pattern->refuse(shape_.first_batch + b, h, query, asked, allowed);
}

void MaskRows::refuse_within_hulls(Index b, Index h, Range rows, Range asked, std::uint64_t* allowed) const {
  for (Index i = rows.begin; gap_ && i < rows.end; ++i) {
    for_windows(
        [&](const Window& window) { allowed[i - rows.begin] &= ~bits_within(open(window, laid(b, h), i).gap, asked); });
  }
  const Query first{rows.begin, position(b, rows.begin)};
  for (const auto& pattern : mask_.patterns) {
    pattern->refuse_bits(shape_.first_batch + b, h, first, rows.size(), asked, allowed);
  }
}

}  // namespace heed
