// How much a core keeps nearest to it.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// Bytes of a core's first cache of data, as the system says; 32 KiB, which hardly any has less than, where it does not.
Index first_cache_bytes();

}  // namespace heed::kernels
