// Aligned memory that is kept for reuse, so that a training step does not fault in fresh pages for every activation.
#pragma once

#include <memory>

#include "heed/base/index.h"

namespace heed {

// More than any machine has. Whoever multiplies a size out stops here, so that no product overflows. What is beyond it
// is the caller's mistake, or a hostile file's, and is refused by name before memory is asked for.
inline constexpr Index kMostBytes = Index{1} << 46;

// Returns at least `bytes` bytes, 64-byte aligned, not initialised; released to a pool when the last owner lets go.
// Thread-safe. Throws std::bad_alloc. The pool keeps at most what was in use at the peak.
std::shared_ptr<void> allocate(Index bytes);

// Gives the pool's idle memory back to the system.
void release_idle_memory();

}  // namespace heed
