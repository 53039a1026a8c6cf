// Keys and values of the positions decoded so far: what lets a decoder take one step at the cost of one position.
//
//   KeyValueCache cache(DType::f32, /*rows=*/5, /*length=*/16, attention.key_width());
//   View all = cache.append(keys_and_values);   // this step's rows behind those of the steps before
//   cache.select_rows(survivors);               // a beam search's choice
#pragma once

#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

class KeyValueCache {
 public:
  KeyValueCache() = default;
  // Room for `length` positions of `width` features for each of `rows` sentences; it grows when more come.
  KeyValueCache(DType dtype, Index rows, Index length, Index width);

  // Appends one position's keys and values [B, 1, 2 * width], and returns all so far [B, length, 2 * width] as a view.
  View append(const ConstView& keys_and_values);
  // Keeps, in this order, the given rows; one may come several times.
  void select_rows(std::span<const Index> rows);
  // The positions so far.
  Index length() const { return length_; }

 private:
  Tensor memory_;  // [B, capacity, 2 * width]
  Index length_ = 0;
};

}  // namespace heed
