#include "heed/base/workspace.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/memory.h"
#include "heed/base/poison.h"

namespace heed {

void* Workspace::take_bytes(Index count, Index element_bytes) {
  HEED_CHECK(count >= 0 && count <= kMostBytes / element_bytes,
             "Workspace::take: {} elements of {} bytes are more than any machine has", count, element_bytes);
  const Index bytes = std::max<Index>((count * element_bytes + 63) / 64 * 64, 64);
  while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    // Each block doubles what is held, so a long-lived workspace has few of them.
    const Index size = std::max({bytes, capacity(), Index{1} << 16});
    blocks_.push_back({allocate(size), size});
    used_ = 0;
  }
  // What scopes gave back lies behind what is taken now, and nobody may use it.
  void* taken = static_cast<char*>(blocks_[block_].memory.get()) + used_;
  poison(taken, blocks_[block_].size - used_);
  unpoison(taken, count * element_bytes);
  used_ += bytes;
  return taken;
}

Index Workspace::capacity() const {
  Index sum = 0;
  for (const Block& block : blocks_) sum += block.size;
  return sum;
}

}  // namespace heed
