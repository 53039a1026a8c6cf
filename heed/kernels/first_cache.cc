#include "heed/kernels/first_cache.h"

#include <unistd.h>

namespace heed::kernels {

Index first_cache_bytes() {
  static const Index bytes = [] {
    long said = 0;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    said = ::sysconf(_SC_LEVEL1_DCACHE_SIZE);
#endif
    return said > 0 ? Index{said} : Index{32} << 10;
  }();
  return bytes;
}

}  // namespace heed::kernels
