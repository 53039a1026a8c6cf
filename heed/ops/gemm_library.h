// The GEMM library (oneDNN), behind one function.
#pragma once

#include <cstdint>

#include "heed/kernels/gemm_tile.h"

namespace heed {

// Does what kernels::gemm_tile does, to the bit, on this thread, and faster where the product is large. Returns false,
// having done nothing, where the library is not known to sum in gemm_tile's order (below AVX-512) or does not take the
// strides. What it prepares for a shape is kept, per thread, for the next call. Throws heed::Error where the library
// fails.
bool multiply_with_library(const kernels::GemmTile& tile);

// Products of bytes, summed in 32 bits.
struct ByteProduct {
  Index m, n, k;
  const std::int8_t* a;
  Index a_row;  // [m, k], from row to row
  const std::int8_t* b;
  Index b_row;      // [n, k]
  std::int32_t* c;  // [m, n], of whole rows
};

// Whether the library's sums of so many products of bytes are exact: without AVX512-VNNI it adds pairs in 16 bits.
bool library_is_exact(Index k);

// c = a b^T on this thread, where that is exact. Throws heed::Error where the library fails.
void multiply_with_library(const ByteProduct& product);

}  // namespace heed
