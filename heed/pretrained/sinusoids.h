// Tables of positions that other toolkits compute: fairseq and its like have the sines of all frequencies beside one
// another, and the cosines behind them.
//
//   sines_and_cosines(/*first=*/0, 512, 64, /*steps=*/32);    // Marian's
//   sines_and_cosines(/*first=*/2, 512, 64, /*steps=*/31);    // M2M-100's: the last rate is 1/10000
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

// f32 [length, width], of the places first, first + 1, ...: row p is sin(p r_0), sin(p r_1), ..., then cos(p r_0), ...,
// with r_i = 10000^(-i / steps), i from 0 to width / 2 - 1. Throws heed::Error for a width that is odd and for no
// steps.
Tensor sines_and_cosines(Index first, Index length, Index width, Index steps);

}  // namespace heed
