// The random streams of the dropout calls of one forward pass: each is a pure function of its place in the training, so
// that nothing of it has to be kept, and whoever computes the same micro-batch again drops the same elements.
//
//   DropoutCalls dropout({.seed = 1, .update = 7, .micro_batch = 0});
//   const Context context = Context::training(tape, workspace, dropout);
#pragma once

#include <cstdint>

#include "heed/base/index.h"
#include "heed/ops/dropout.h"

namespace heed {

// Which forward pass of which training: micro-batches are those whose gradients make up one update, 2^32 at most.
struct DropoutPlace {
  std::uint64_t seed = 0;
  Index update = 0;
  Index micro_batch = 0;
};

class DropoutCalls {
 public:
  explicit DropoutCalls(const DropoutPlace& place) : place_(place) {}

  // The key of the next call: a function of the place and of how many came before it.
  DropoutKey next();

 private:
  DropoutPlace place_;
  std::uint32_t calls_ = 0;
};

}  // namespace heed
