// The GEMM library (oneDNN), behind one function.
#pragma once

#include "heed/kernels/gemm_tile.h"

namespace heed {

// Does what kernels::gemm_tile does, to the bit, on this thread, and faster where the product is large. Returns false,
// having done nothing, where the library is not known to sum in gemm_tile's order (below AVX-512) or does not take the
// strides. What it prepares for a shape is kept, per thread, for the next call. Throws heed::Error where the library
// fails.
bool multiply_with_library(const kernels::GemmTile& tile);

}  // namespace heed
