#include "heed/text/tokenizer/merge_table.h"

#include <algorithm>
#include <bit>

namespace heed {

MergeTable::MergeTable(std::size_t most)
    : slots_(std::bit_ceil(std::max<std::size_t>(2 * most, 16))),
      mask_(slots_.size() - 1),
      shift_(64 - std::countr_zero(slots_.size())) {}

void MergeTable::set(int left, int right, Merge merge) {
  const std::uint64_t key = key_of(left, right);
  std::size_t at = place_of(key);
  while (slots_[at].key != kEmpty && slots_[at].key != key) at = (at + 1) & mask_;
  slots_[at] = {key, merge};
}

}  // namespace heed
