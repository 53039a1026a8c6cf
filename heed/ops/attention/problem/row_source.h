// Rows of keys or values, wherever they lie: [B, Hk, Lk, D], or the pages of a cache; those of i8 with their scales.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/ops/attention/spec/mask_pattern.h"
#include "heed/tensor/numbers.h"

namespace heed {

class RowSource {
 public:
  RowSource() = default;
  // `scales` has the shape of the view but for its last axis.
  explicit RowSource(ConstView view, ConstView pages = {}, ConstView scales = {})
      : view_(view), pages_(pages), scales_(scales) {}

  explicit operator bool() const { return bool{view_}; }
  const ConstView& view() const { return view_; }
  bool paged() const { return bool{pages_}; }

  // Rows that lie one after another, `stride` elements apart, from element `offset` of the view on, or in no page.
  struct Run {
    bool stored;
    Index offset, rows, stride;
    const float* scales = nullptr;  // i8: of the rows
    Index scale_stride = 0;
  };
  // The first rows of `keys` that are one run, found by a look at each of its pages.
  Run run(Index b, Index head, Range keys) const {
    if (!paged()) return at(b, head, keys.begin, keys.size());
    const Index size = view_.shape[2], row = keys.begin % size, pages = view_.shape[0];
    const auto page_of = [&](Index key) { return integer_at(pages_, {b, key / size}); };
    const Index page = page_of(keys.begin);
    Index rows = std::min(keys.size(), size - row);
    if (page < 0 || page >= pages) return {false, 0, rows, view_.stride[2]};
    // Pages that lie one after another are one run.
    if (are_adjacent(view_) && (!scales_ || are_adjacent(scales_))) {
      for (Index next = page + 1; rows < keys.size() && next < pages && page_of(keys.begin + rows) == next; ++next) {
        rows = std::min(keys.size(), rows + size);
      }
    }
    return at(page, head, row, rows);
  }

  // Reads a row. What lies in no page (padding behind the key lengths) reads as zero.
  template <typename Sum>
  void load(Index b, Index head, Index j, Sum* to) const {
    const Run row = run(b, head, {j, j + 1});
    if (!row.stored) {
      std::fill_n(to, view_.shape[3], Sum{0});
    } else if (row.scales != nullptr) {
      const std::int8_t* numbers = view_.as<std::int8_t>() + row.offset;
      std::transform(numbers, numbers + view_.shape[3], to,
                     [scale = *row.scales](std::int8_t x) { return static_cast<Sum>(static_cast<float>(x) * scale); });
    } else {
      load_row(view_, row.offset, view_.shape[3], to);
    }
  }

 private:
  // Whether rows of one page follow those of the page before.
  static bool are_adjacent(const ConstView& pool) { return pool.stride[0] == pool.shape[2] * pool.stride[2]; }

  // Rows from `row` on of element b of the view's first axis.
  Run at(Index b, Index head, Index row, Index rows) const {
    Run run{true, view_.offset({b, head, row}), rows, view_.stride[2]};
    if (scales_)
      run.scales = scales_.as<float>() + scales_.offset({b, head, row}), run.scale_stride = scales_.stride[2];
    return run;
  }

  ConstView view_, pages_, scales_;
};

}  // namespace heed
