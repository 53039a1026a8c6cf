#include "heed/layers/key_value_cache.h"

#include <algorithm>

namespace heed {

KeyValueCache::KeyValueCache(DType dtype, Index rows, Index length, Index width)
    : memory_(Tensor::empty(dtype, {rows, std::max<Index>(length, 1), 2 * width})) {}

View KeyValueCache::append(const ConstView& keys_and_values) {
  if (length_ == memory_.dim(1)) {
    const Tensor larger = Tensor::empty(memory_.dtype(), {memory_.dim(0), 2 * length_, memory_.dim(2)});
    copy(memory_, slice(larger.view(), 1, 0, length_));
    memory_ = larger;
  }
  copy(keys_and_values, slice(memory_.view(), 1, length_, length_ + 1));
  ++length_;
  return slice(memory_.view(), 1, 0, length_);
}

void KeyValueCache::select_rows(std::span<const Index> rows) {
  const Tensor selected =
      Tensor::empty(memory_.dtype(), {static_cast<Index>(rows.size()), memory_.dim(1), memory_.dim(2)});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    copy(slice(select(memory_.view(), 0, rows[r]), 0, 0, length_),
         slice(select(selected.view(), 0, static_cast<Index>(r)), 0, 0, length_));
  }
  memory_ = selected;
}

}  // namespace heed
