// Who wants to know how far a long call is.
#pragma once

#include <functional>

#include "heed/base/index.h"

namespace heed {

// Told how much is done, of what the call counts: never twice at a time, but from any thread. An empty one is not told.
using Progress = std::function<void(Index done)>;

}  // namespace heed
