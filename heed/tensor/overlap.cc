#include "heed/tensor/overlap.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace heed {
namespace {

// One step of an address: t * step for first <= t <= last, with step > 0.
struct Axis {
  Index step, first, last;
};

// The axes of one view, or of two, the longest step first.
class Axes {
 public:
  void add(const Axis& axis) {
    Axis* at = axes_.data() + count_++;
    for (; at != axes_.data() && at[-1].step < axis.step; --at) *at = at[-1];
    *at = axis;
  }
  Axis* begin() { return axes_.data(); }
  Axis* end() { return axes_.data() + count_; }
  const Axis* begin() const { return axes_.data(); }
  const Axis* end() const { return axes_.data() + count_; }
  int count() const { return count_; }

 private:
  std::array<Axis, 2 * kMaxRank> axes_{};
  int count_ = 0;
};

// Where a view's elements lie: base + the sum of the axes, `unit` times the strides.
struct Addresses {
  Index base;
  Axes axes;
};

Addresses addresses_of(const ConstView& view, Index unit) {
  Addresses at{static_cast<Index>(reinterpret_cast<std::uintptr_t>(view.data)), {}};
  for (int axis = 0; axis < view.rank; ++axis) {
    const Index step = view.stride[axis] * unit, last = view.shape[axis] - 1;
    if (step == 0 || last == 0) continue;
    if (step < 0) at.base += step * last;
    at.axes.add({std::abs(step), 0, last});
  }
  return at;
}

// Whether some choice of t along every axis sums to a number in [low, high].
class Search {
 public:
  explicit Search(const Axes& axes) : axes_(axes) {}

  bool reaches(Index low, Index high) { return reaches(0, low, high); }

 private:
  bool reaches(int axis, Index low, Index high) {
    Index least = 0, most = 0;
    for (const Axis* rest = axes_.begin() + axis; rest != axes_.end(); ++rest) {
      least += rest->step * rest->first, most += rest->step * rest->last;
    }
    if (high < least || low > most) return false;
    if (axis == axes_.count() || --budget_ < 0) return true;
    const Axis& here = axes_.begin()[axis];
    least -= here.step * here.first, most -= here.step * here.last;  // of the axes after this one
    // The first t whose reach is not below `low`.
    const Index short_by = low - most - here.first * here.step;
    const Index first = here.first + (short_by > 0 ? ceil_div(short_by, here.step) : 0);
    for (Index t = first; t <= here.last; ++t) {
      const Index at = t * here.step;
      if (at + least > high) break;
      if (reaches(axis + 1, low - at, high - at)) return true;
    }
    return false;
  }

  Axes axes_;
  Index budget_ = 100000;  // strides that do not nest could branch without end
};

}  // namespace

bool overlap(const ConstView& a, const ConstView& b) {
  if (!a || !b) return false;
  if (Hull(a).apart(Hull(b)) || a.size() == 0 || b.size() == 0) return false;
  const Index a_size = size_of(a.dtype), b_size = size_of(b.dtype);
  Addresses from = addresses_of(a, a_size);
  const Addresses to = addresses_of(b, b_size);
  // An element of a at x and one of b at y share a byte where -a_size < x - y < b_size.
  for (const Axis& axis : to.axes) {
    Axis* same =
        std::find_if(from.axes.begin(), from.axes.end(), [&](const Axis& other) { return other.step == axis.step; });
    if (same == from.axes.end()) {
      from.axes.add({axis.step, -axis.last, 0});
    } else {
      same->first -= axis.last;
    }
  }
  const Index apart = to.base - from.base;
  return Search(from.axes).reaches(apart - a_size + 1, apart + b_size - 1);
}

bool overlaps_itself(const ConstView& view) {
  if (view.size() <= 1 || view.contiguous()) return false;
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] > 1 && view.stride[axis] == 0) return true;
  }
  const Axes axes = addresses_of(view, 1).axes;
  Index reach = 0;  // of the axes with shorter steps
  bool nested = true;
  for (const Axis* axis = axes.end(); axis-- != axes.begin();) {
    nested &= axis->step > reach;
    reach += axis->step * axis->last;
  }
  if (nested) return false;
  // Two elements lie at one address where the steps between them, of which the first that is not zero may be taken as
  // positive, sum to zero.
  for (const Axis* first = axes.begin(); first != axes.end(); ++first) {
    Axes between;
    between.add({first->step, 1, first->last});
    for (const Axis* after = first + 1; after != axes.end(); ++after) {
      between.add({after->step, -after->last, after->last});
    }
    if (Search(between).reaches(0, 0)) return true;
  }
  return false;
}

bool same_elements(const ConstView& a, const ConstView& b) {
  if (a.data != b.data || a.dtype != b.dtype || !same_shape(a, b)) return false;
  for (int axis = 0; axis < a.rank; ++axis) {
    if (a.shape[axis] > 1 && a.stride[axis] != b.stride[axis]) return false;
  }
  return true;
}

}  // namespace heed
