// Which two neighbours byte-pair encoding makes one of, and in which order.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/index.h"

namespace heed {

// (left id, right id) -> (rank, id of both together).
class MergeTable {
 public:
  struct Merge {
    int rank = 0;  // lower ones come first
    int id = -1;   // -1: the two are never merged
  };

  explicit MergeTable(std::size_t most);
  // A pair that comes twice has its last merge.
  void set(int left, int right, Merge merge);
  Merge find(int left, int right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t at = place_of(key);; at = (at + 1) & mask_) {
      if (slots_[at].key == key) return slots_[at].merge;
      if (slots_[at].key == kEmpty) return {};
    }
  }
  // Calls use(left, right, merge) for each.
  template <typename Use>
  void for_each(const Use& use) const {
    for (const Slot& slot : slots_) {
      if (slot.key != kEmpty)
        use(static_cast<int>(slot.key >> 32), static_cast<int>(slot.key & 0xFFFFFFFF), slot.merge);
    }
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kEmpty;
    Merge merge;
  };

  static std::uint64_t key_of(int left, int right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
  }
  std::size_t place_of(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15U >> shift_);  // Fibonacci hashing: the high bits
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half full
  std::size_t mask_;
  int shift_;
};

}  // namespace heed
