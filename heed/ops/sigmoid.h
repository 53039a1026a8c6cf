// 1 / (1 + e^-x)
#pragma once

#include <cmath>

namespace heed {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace heed
