#include "heed/base/memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "heed/base/index.h"
#include "heed/base/poison.h"

namespace heed {
namespace {

constexpr Index kAlignment = 64;

// Eight size classes for each power of two: at most 12.5 % is wasted, and a batch slightly longer than the last reuses
// its memory.
std::size_t size_class(Index bytes) {
  const std::size_t wanted = std::max<std::size_t>(static_cast<std::size_t>(bytes), kAlignment * 8);
  const std::size_t step = std::bit_floor(wanted) / 8;
  return round_up(wanted, step);
}

class BlockPool {
 public:
  void* take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      in_use_ += bytes;
      if (auto found = idle_.find(bytes); found != idle_.end() && !found->second.empty()) {
        void* block = found->second.back();
        found->second.pop_back();
        idle_bytes_ -= bytes;
        peak_ = std::max(peak_, in_use_);
        return block;
      }
      // Idle blocks of other sizes must not pile up beside what is in use.
      if (in_use_ + idle_bytes_ > std::max(peak_, in_use_)) release_locked();
    }
    void* block = std::aligned_alloc(kAlignment, bytes);
    const std::lock_guard lock(mutex_);
    if (block == nullptr) {
      in_use_ -= bytes;
      throw std::bad_alloc();
    }
    peak_ = std::max(peak_, in_use_);  // not before there is memory: what nobody has would be allowed to lie idle
    return block;
  }

  void give(void* block, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    in_use_ -= bytes;
    try {
      idle_[bytes].push_back(block);
      idle_bytes_ += bytes;
    } catch (...) {
      std::free(block);
    }
  }

  void release() {
    const std::lock_guard lock(mutex_);
    release_locked();
  }

 private:
  void release_locked() {
    for (auto& [bytes, blocks] : idle_) {
      for (void* block : blocks) std::free(block);
    }
    idle_.clear();
    idle_bytes_ = 0;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> idle_;
  std::size_t in_use_ = 0, idle_bytes_ = 0, peak_ = 0;
};

// Never destroyed: tensors in static storage may be released after it.
BlockPool& block_pool() {
  static BlockPool* const instance = new BlockPool;
  return *instance;
}

}  // namespace

std::shared_ptr<void> allocate(Index bytes) {
  if (bytes < 0 || bytes > kMostBytes) throw std::bad_alloc();
  const std::size_t rounded = size_class(bytes);
  void* const taken = block_pool().take(rounded);
  // Not what lies behind the bytes that were asked for.
  poison(taken, static_cast<Index>(rounded));
  unpoison(taken, bytes);
  return {taken, [rounded](void* block) {
            poison(block, static_cast<Index>(rounded));
            block_pool().give(block, rounded);
          }};
}

void release_idle_memory() { block_pool().release(); }

}  // namespace heed
