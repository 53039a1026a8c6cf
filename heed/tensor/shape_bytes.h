// The size of an array of a given shape, checked before anything is allocated for it or read from it.
#pragma once

#include <span>
#include <string_view>

#include "heed/base/index.h"
#include "heed/tensor/dtype.h"
#include "heed/tensor/view.h"

namespace heed {

// Returns the bytes of a row-major array of this shape. Throws heed::Error that begins with `where` for a rank beyond
// max_rank, a negative extent, or extents whose product (zeros left out, so that no stride overflows) is more than a
// machine holds.
Index checked_bytes(DType dtype, std::span<const Index> shape, std::string_view where, Index max_rank = kMaxRank);

}  // namespace heed
