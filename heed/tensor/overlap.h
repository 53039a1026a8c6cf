// Whether views share memory: what an operator asks before it writes. See operands.h, which asks it.
//
//   HEED_CHECK(!overlap(out, q), "out must not lie in q");
#pragma once

#include <cstdint>

#include "heed/tensor/view.h"

namespace heed {

// The bytes from the first of a view's elements to the last, where it has any: most views are told apart by them, and
// in few steps.
struct Hull {
  explicit Hull(const ConstView& view) : begin(reinterpret_cast<std::intptr_t>(view.data)) {
    const Index size = size_of(view.dtype);
    end = begin + size;
    for (int axis = 0; axis < view.rank; ++axis) {
      const Index reach = view.stride[axis] * (view.shape[axis] - 1) * size;
      (reach < 0 ? begin : end) += reach;
    }
  }
  bool apart(const Hull& other) const { return end <= other.begin || other.end <= begin; }

  Index begin, end;
};

// True where a byte of an element of `a` is a byte of an element of `b`. Exact for strides that nest, as those of every
// slice, transpose and packed projection do; interleaved views (the q, k and v of one tensor) do not overlap. Empty
// views, and those without elements, overlap nothing. Cost: some steps for each axis, none where the hulls are apart;
// where strides do not nest and that takes more than 100,000, the answer is true.
bool overlap(const ConstView& a, const ConstView& b);

// True where two elements of the view are one: a stride of 0, or rows closer to each other than they are long. Exact,
// and of the same cost.
bool overlaps_itself(const ConstView& view);

// Whether both views are of the same elements in the same places.
bool same_elements(const ConstView& a, const ConstView& b);

}  // namespace heed
