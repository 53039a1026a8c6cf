// A small product that asks for memory while it computes: a burst of requests would wait for one another, and a
// processor guesses neither the next page nor the next head.
#pragma once

#include "heed/kernels/gemm_tile.h"

namespace heed::kernels {

// Addresses in lines of memory that are read or written soon.
struct LinesAhead {
  const char* const* next = nullptr;
  Index left = 0;
};

// gemm_tile, which asks for a line at each step of a sum while there are enough, and counts them off: in tiles that lie
// whole in registers, and as many as the sum has steps.
void gemm_tile_ahead(const GemmTile& tile, LinesAhead& ahead);

}  // namespace heed::kernels
