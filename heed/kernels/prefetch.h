// Asks for rows that are read soon: those of one head lie apart where heads lie beside one another, and no processor
// guesses the next.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

// [rows, bytes], `stride` bytes apart. Nothing is read; the memory need not be there.
void prefetch_rows(const void* first, Index stride, Index rows, Index bytes);

}  // namespace heed::kernels
