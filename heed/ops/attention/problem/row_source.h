// Rows of keys or values, wherever they lie: [B, Hk, Lk, D], or the pages of a cache.
#pragma once

#include <algorithm>

#include "heed/ops/attention/spec/mask_pattern.h"
#include "heed/tensor/numbers.h"

namespace heed {

class RowSource {
 public:
  RowSource() = default;
  explicit RowSource(ConstView view, ConstView pages = {}) : view_(view), pages_(pages) {}

  explicit operator bool() const { return bool{view_}; }
  const ConstView& view() const { return view_; }
  bool paged() const { return bool{pages_}; }

  // Rows that lie one after another, `stride` elements apart, from element `offset` of the view on, or in no page.
  struct Run {
    bool stored;
    Index offset, rows, stride;
  };
  // The first rows of `keys` that are one run.
  Run run(Index b, Index head, Range keys) const {
    if (!paged()) return {true, view_.offset({b, head, keys.begin}), keys.size(), view_.stride[2]};
    const Index size = view_.shape[2], at = keys.begin % size, page = integer_at(pages_, {b, keys.begin / size});
    const bool stored = page >= 0 && page < view_.shape[0];
    return {stored, stored ? view_.offset({page, head, at}) : 0, std::min(keys.size(), size - at), view_.stride[2]};
  }

  // Reads a row. What lies in no page (padding behind the key lengths) reads as zero.
  template <typename Sum>
  void load(Index b, Index head, Index j, Sum* to) const {
    const Run row = run(b, head, {j, j + 1});
    if (row.stored) {
      load_row(view_, row.offset, view_.shape[3], to);
    } else {
      std::fill_n(to, view_.shape[3], Sum{0});
    }
  }

 private:
  ConstView view_, pages_;
};

}  // namespace heed
