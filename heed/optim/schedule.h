// Learning-rate schedules.
#pragma once

#include <algorithm>
#include <cmath>

#include "heed/base/index.h"

namespace heed {

// Linear warm-up to `peak` over `warmup` updates, then falling with the inverse square root of the update (Vaswani et
// al. 2017, eq. 3, with the peak given instead of derived from the width). The first update is 1.
inline double inverse_square_root_rate(double peak, Index warmup, Index update) {
  const double u = static_cast<double>(update), w = static_cast<double>(std::max<Index>(warmup, 1));
  return peak * std::min(u / w, std::sqrt(w / u));
}

}  // namespace heed
