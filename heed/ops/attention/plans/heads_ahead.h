// Heads whose rows are read or written soon, asked for a part at a time between other work: a processor has so many
// requests under way at once, and waits where one asks for more.
//
//   HeadsAhead next;
//   next.add(q, b, h), next.add(k, b, g);
//   work(); next.ask(2); more_work(); next.ask(1);
#pragma once

#include <array>

#include "heed/kernels/prefetch.h"
#include "heed/tensor/view.h"

namespace heed {

class HeadsAhead {
 public:
  // Head h of a [B, H, L, D] view, unless its rows lie one after another: those a processor reads ahead by itself. Of
  // an empty view nothing.
  void add(const ConstView& view, Index b, Index h) {
    if (!view || view.stride[2] == view.shape[3]) return;
    const Index size = size_of(view.dtype);
    parts_[static_cast<std::size_t>(count_++)] = {static_cast<const char*>(view.data) + view.offset({b, h}) * size,
                                                  view.stride[2] * size, view.shape[3] * size, view.shape[2]};
    rows_ += view.shape[2];
  }

  // Asks for one in `times` of the rows that are left.
  void ask(Index times) {
    for (Index wanted = ceil_div(rows_, times); wanted > 0;) {
      Part& part = parts_[static_cast<std::size_t>(at_)];
      const Index some = wanted < part.rows ? wanted : part.rows;
      kernels::prefetch_rows(part.first, part.stride, some, part.bytes);
      part.first += some * part.stride, part.rows -= some, rows_ -= some, wanted -= some;
      if (part.rows == 0) ++at_;
    }
  }

 private:
  struct Part {
    const char* first;
    Index stride, bytes, rows;
  };
  std::array<Part, 8> parts_;  // the first count_ of them: to clear all takes as long as asking
  Index count_ = 0, at_ = 0, rows_ = 0;
};

}  // namespace heed
