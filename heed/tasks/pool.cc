#include "heed/tasks/pool.h"

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

// What a sum of `length` rows is divided by.
double divisor(Pool pool, Index length) {
  const double n = static_cast<double>(length);
  if (pool == Pool::weighted) return n * (n + 1) / 2;
  return pool == Pool::mean_sqrt ? std::sqrt(n) : n;
}

}  // namespace

void pool_rows(const float* rows, Index length, Index width, Pool pool, float* vector) {
  if (pool == Pool::first || pool == Pool::last) {
    std::copy_n(rows + (pool == Pool::first ? 0 : length - 1) * width, width, vector);
    return;
  }
  if (pool == Pool::max) {
    std::copy_n(rows, width, vector);
    for (Index row = 1; row < length; ++row) {
      for (Index i = 0; i < width; ++i) vector[i] = std::max(vector[i], rows[row * width + i]);
    }
    return;
  }
  for (Index i = 0; i < width; ++i) {
    double sum = 0;
    for (Index row = 0; row < length; ++row) {
      const double weight = pool == Pool::weighted ? static_cast<double>(row + 1) : 1;
      sum += weight * static_cast<double>(rows[row * width + i]);
    }
    vector[i] = static_cast<float>(sum / divisor(pool, length));
  }
}

}  // namespace heed
