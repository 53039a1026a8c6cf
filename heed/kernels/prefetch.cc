#include "heed/kernels/prefetch.h"

#include <hwy/cache_control.h>

namespace heed::kernels {

void prefetch_rows(const void* first, Index stride, Index rows, Index bytes) {
  constexpr Index kLine = 64;
  const char* row = static_cast<const char*>(first);
  for (Index r = 0; r < rows; ++r, row += stride)
    for (Index at = 0; at < bytes; at += kLine) hwy::Prefetch(row + at);
}

}  // namespace heed::kernels
