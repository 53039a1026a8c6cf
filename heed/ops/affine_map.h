// What rows are multiplied by, and what is added.
#pragma once

#include "heed/ops/weight.h"

namespace heed {

// x [R, In] to x weight^T + bias [R, Out].
struct AffineMap {
  Weight weight;
  ConstView bias;  // [Out], or none
};

}  // namespace heed
