// What a measurement says of the machine that it was made on.
#pragma once

#include <string>

#include "heed/base/index.h"

namespace heed {

// "AMD EPYC 9R45": from /proc/cpuinfo; "unknown" where that does not say.
std::string processor_name();

// Bytes of an array that is read from memory and not from a cache: four times the last cache and 256 MiB at least, but
// no more than a quarter of the memory.
Index beyond_cache_bytes();

}  // namespace heed
