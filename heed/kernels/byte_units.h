// The units of byte_rows.h, of which a machine has some.
#pragma once

#include "heed/kernels/byte_rows.h"

namespace heed::kernels {

// AMX's tiles, and AVX-512's dot products: where x86-64 Linux is compiled for.
const ByteUnit& tile_byte_unit();
const ByteUnit& dot_byte_unit();

}  // namespace heed::kernels
