#include "heed/kernels/lines_below.h"

#include "heed/tensor/dtype.h"

namespace heed::kernels {

void ask_for_some(StoredRows& stored) {
  constexpr Index kBytes = 4 * kLineBytes;
  if (stored.next_bytes <= kBytes) return;  // some is left for the rows themselves
  const bool left = stored.left_bytes >= kBytes;
  const char* const end = static_cast<const char*>(stored.data) + stored.count * stored.row * size_of(stored.dtype);
  ask_lines(left ? end - stored.left_bytes : static_cast<const char*>(stored.next), kLineBytes, kBytes / kLineBytes,
            ask_ahead().into_first_cache);
  if (left) {
    stored.left_bytes -= kBytes;
  } else {
    stored.next = static_cast<const char*>(stored.next) + kBytes, stored.next_bytes -= kBytes;
  }
}

}  // namespace heed::kernels
