// Scratch memory that operators borrow and give back, so that a second call of the same size allocates nothing.
//
//   Workspace::Scope scope(workspace);
//   float* scores = workspace.take<float>(rows * columns);   // until scope ends
#pragma once

#include <memory>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// A stack of blocks. Not thread-safe: what threads need is taken before the parallel loop. Memory is kept until
// destruction.
class Workspace {
 public:
  // Everything taken while a scope lives is given back when it ends.
  class Scope {
   public:
    explicit Scope(Workspace& workspace) : workspace_(workspace), block_(workspace.block_), used_(workspace.used_) {}
    ~Scope() { workspace_.block_ = block_, workspace_.used_ = used_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Workspace& workspace_;
    std::size_t block_;
    Index used_;
  };

  // 64-byte aligned, not initialised. Throws heed::Error for a negative count, and for more than a machine holds.
  template <typename T>
  T* take(Index count) {
    return static_cast<T*>(take_bytes(count, sizeof(T)));
  }
  // Bytes held from the system.
  Index capacity() const;

 private:
  void* take_bytes(Index count, Index element_bytes);

  struct Block {
    std::shared_ptr<void> memory;
    Index size;
  };
  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // the block in use
  Index used_ = 0;         // bytes of it
};

}  // namespace heed
