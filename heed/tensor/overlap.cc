#include "heed/tensor/overlap.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heed {
namespace {

// One step of an address: t * step for first <= t <= last.
struct Axis {
  Index step, first, last;
};

// Where a view's elements lie: base + the sum of the axes, in bytes.
struct Addresses {
  Index base;
  std::vector<Axis> axes;
};

Addresses addresses_of(const ConstView& view) {
  const Index size = size_of(view.dtype);
  Addresses at{static_cast<Index>(reinterpret_cast<std::uintptr_t>(view.data)), {}};
  for (int axis = 0; axis < view.rank; ++axis) {
    const Index step = view.stride[axis] * size, last = view.shape[axis] - 1;
    if (step == 0 || last == 0) continue;
    if (step < 0) at.base += step * last;
    at.axes.push_back({std::abs(step), 0, last});
  }
  return at;
}

// Whether some choice of t along every axis sums to a number in [low, high].
class Search {
 public:
  explicit Search(std::vector<Axis> axes) : axes_(std::move(axes)) {
    std::sort(axes_.begin(), axes_.end(), [](const Axis& a, const Axis& b) { return a.step > b.step; });
  }

  bool reaches(std::size_t axis, Index low, Index high) {
    Index least = 0, most = 0;
    for (std::size_t rest = axis; rest < axes_.size(); ++rest) {
      least += axes_[rest].step * axes_[rest].first, most += axes_[rest].step * axes_[rest].last;
    }
    if (high < least || low > most) return false;
    if (axis == axes_.size() || --budget_ < 0) return true;
    const Axis& here = axes_[axis];
    least -= here.step * here.first, most -= here.step * here.last;  // of the axes after this one
    // The first t whose reach is not below `low`.
    const Index short_by = low - most - here.first * here.step;
    const Index first = here.first + (short_by > 0 ? (short_by + here.step - 1) / here.step : 0);
    for (Index t = first; t <= here.last; ++t) {
      const Index at = t * here.step;
      if (at + least > high) break;
      if (reaches(axis + 1, low - at, high - at)) return true;
    }
    return false;
  }

 private:
  std::vector<Axis> axes_;
  Index budget_ = 100000;  // strides that do not nest could branch without end
};

}  // namespace

bool overlap(const ConstView& a, const ConstView& b) {
  if (!a || !b || a.size() == 0 || b.size() == 0) return false;
  Addresses from = addresses_of(a);
  const Addresses to = addresses_of(b);
  const auto end = [](const Addresses& at, Index size) {
    Index sum = at.base + size;
    for (const Axis& axis : at.axes) sum += axis.step * axis.last;
    return sum;
  };
  const Index a_size = size_of(a.dtype), b_size = size_of(b.dtype);
  if (end(from, a_size) <= to.base || end(to, b_size) <= from.base) return false;
  // An element of a at x and one of b at y share a byte where -a_size < x - y < b_size.
  for (const Axis& axis : to.axes) {
    const auto same =
        std::find_if(from.axes.begin(), from.axes.end(), [&](const Axis& other) { return other.step == axis.step; });
    if (same == from.axes.end()) {
      from.axes.push_back({axis.step, -axis.last, 0});
    } else {
      same->first -= axis.last;
    }
  }
  const Index apart = to.base - from.base;
  return Search(std::move(from.axes)).reaches(0, apart - a_size + 1, apart + b_size - 1);
}

}  // namespace heed
