// Rows of keys or values, wherever they lie: [B, Hk, Lk, D], or the pages of a cache.
#pragma once

#include "heed/tensor/numbers.h"

namespace heed {

class RowSource {
 public:
  RowSource() = default;
  explicit RowSource(ConstView view, ConstView pages = {}) : view_(view), pages_(pages) {}

  explicit operator bool() const { return bool{view_}; }
  const ConstView& view() const { return view_; }
  bool paged() const { return bool{pages_}; }

  // Reads a row. What lies in no page (padding behind the key lengths) reads as zero.
  template <typename Sum>
  void load(Index b, Index head, Index j, Sum* to) const {
    const Index width = view_.shape[3];
    if (!paged()) return load_row(view_, view_.offset({b, head, j}), width, to);
    const Index size = view_.shape[2], page = integer_at(pages_, {b, j / size});
    if (page < 0 || page >= view_.shape[0]) {
      std::fill_n(to, width, Sum{0});
    } else {
      load_row(view_, view_.offset({page, head, j % size}), width, to);
    }
  }

 private:
  ConstView view_, pages_;
};

}  // namespace heed
