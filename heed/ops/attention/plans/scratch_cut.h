// Cuts a thread's scratch memory into what it needs, or only measures how much that is.
//
//   ScratchCut cut(memory);            // null: measure
//   cut.take(scores_, rows * keys);
//   return cut.used();
#pragma once

#include "heed/base/index.h"

namespace heed {

class ScratchCut {
 public:
  explicit ScratchCut(char* base) : base_(base) {}

  // Points to memory for `count` T, 64-byte aligned and not initialised; null while it only measures.
  template <typename T>
  void take(T*& pointer, Index count) {
    pointer = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += (count * static_cast<Index>(sizeof(T)) + 63) / 64 * 64;
  }

  bool measures() const { return base_ == nullptr; }
  Index used() const { return used_; }  // bytes

 private:
  char* base_;
  Index used_ = 0;
};

}  // namespace heed
