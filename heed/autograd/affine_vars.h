// What rows are multiplied by, and what is added (heed/ops/affine_map.h).
#pragma once

#include "heed/autograd/var.h"

namespace heed {

struct AffineVars {
  Var weight;  // [Out, In]
  Var bias;    // [Out], or none
};

}  // namespace heed
