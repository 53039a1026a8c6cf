// Aligned memory that is kept for reuse, so that a training step does not fault in fresh pages for every activation.
#pragma once

#include <memory>

#include "heed/base/index.h"

namespace heed {

// Returns at least `bytes` bytes, 64-byte aligned, not initialised; released to a pool when the last owner lets go.
// Thread-safe. Throws std::bad_alloc. The pool keeps at most what was in use at the peak.
std::shared_ptr<void> allocate(Index bytes);

// Gives the pool's idle memory back to the system.
void release_idle_memory();

}  // namespace heed
