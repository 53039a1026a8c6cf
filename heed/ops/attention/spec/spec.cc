#include "heed/ops/attention/spec/spec.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/random.h"
#include "heed/tensor/numbers.h"
#include "heed/tensor/operands.h"

namespace heed {
namespace {

void check_filled(const char* caller, const char* name, const View& view, int rank) {
  check_written(caller, {name, view});
  HEED_CHECK(view && view.rank == rank && (view.dtype == DType::f32 || view.dtype == DType::f64),
             "{}: {} must be f32 or f64 of rank {}, but are {}", caller, name, rank, describe(view));
}

double length(const double* x, Index n) {
  double sum = 0;
  for (Index d = 0; d < n; ++d) sum += x[d] * x[d];
  return std::sqrt(sum);
}

}  // namespace

void alibi_slopes(View slopes) {
  check_filled("alibi_slopes", "the slopes", slopes, 1);
  const Index heads = slopes.shape[0];
  Index power = 1;
  while (power * 2 <= heads) power *= 2;
  for (Index h = 0; h < heads; ++h) {
    // Beyond the largest power of two: every other slope of twice as many heads.
    const double exponent = h < power ? static_cast<double>(h + 1) / static_cast<double>(power)
                                      : static_cast<double>(2 * (h - power) + 1) / static_cast<double>(2 * power);
    store_number(slopes, {h}, std::exp2(-8 * exponent));
  }
}

void orthogonal_random_features(View projection, std::uint64_t seed) {
  check_filled("orthogonal_random_features", "the features", projection, 2);
  const Index features = projection.shape[0], width = projection.shape[1];
  HEED_CHECK(width >= 1, "orthogonal_random_features: D must be at least 1, but the features are {}",
             describe(projection));
  if (features == 0) return;
  Rng rng(seed);
  std::vector<double> block(static_cast<std::size_t>(std::min(features, width) * width));
  std::vector<double> drawn(static_cast<std::size_t>(width));
  for (Index m = 0; m < features; ++m) {
    double* row = &block[static_cast<std::size_t>(m % width * width)];
    for (Index d = 0; d < width; ++d) row[d] = rng.normal();
    // Gram-Schmidt, twice for accuracy, against the rows before it in its block.
    for (int pass = 0; pass < 2; ++pass) {
      for (const double* other = block.data(); other != row; other += width) {
        double along = 0;
        for (Index d = 0; d < width; ++d) along += row[d] * other[d];
        for (Index d = 0; d < width; ++d) row[d] -= along * other[d];
      }
      const double norm = length(row, width);
      for (Index d = 0; d < width; ++d) row[d] /= norm;
    }
    // A direction; its length is that of an independent draw.
    for (double& x : drawn) x = rng.normal();
    const double norm = length(drawn.data(), width);
    for (Index d = 0; d < width; ++d) store_number(projection, {m, d}, row[d] * norm);
  }
}

}  // namespace heed
