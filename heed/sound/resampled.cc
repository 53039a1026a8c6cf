#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/sound/wave.h"

namespace heed {
namespace {

constexpr double kCrossings = 32;  // of zero, on each side of the sinc's middle
constexpr double kCutoff = 0.95;   // of half the lower rate
constexpr double kBeta = 8.5;      // of the Kaiser window: the sidelobes are below -80 dB
constexpr Index kMostTaps = 1 << 22;

// The modified Bessel function of the first kind, of order 0, by its series.
double bessel(double x) {
  double sum = 1, term = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

// The filter at a distance in crossings.
double windowed_sinc(double crossings) {
  const double at = crossings / kCrossings;
  if (std::abs(at) >= 1) return 0;
  const double window = bessel(kBeta * std::sqrt(1 - at * at)) / bessel(kBeta);
  const double angle = std::numbers::pi * crossings;
  return window * (crossings == 0 ? 1 : std::sin(angle) / angle);
}

}  // namespace

Wave resampled(const Wave& wave, Index rate) {
  for (Index one : {wave.rate, rate}) {
    HEED_CHECK(one >= kLowestRate && one <= kHighestRate, "resampled: {} samples a second are not in {} to {}", one,
               kLowestRate, kHighestRate);
  }
  if (wave.rate == rate) return wave;
  // New sample i stands at old place i * down / up: of its fractions there are `up` different ones, each with weights
  // of its own.
  const Index common = std::gcd(wave.rate, rate), up = rate / common, down = wave.rate / common;
  const double cutoff = kCutoff * std::min(1.0, static_cast<double>(rate) / static_cast<double>(wave.rate));
  const auto reach = static_cast<Index>(std::ceil(kCrossings / cutoff));
  const Index taps = 2 * reach + 1;
  const bool has_table = up * taps <= kMostTaps;
  const auto weight = [&](Index phase, Index tap) {
    const double fraction = static_cast<double>(phase) / static_cast<double>(up);
    return cutoff * windowed_sinc((static_cast<double>(tap - reach) - fraction) * cutoff);
  };
  std::vector<double> table;
  for (Index phase = 0; has_table && phase < up; ++phase) {
    for (Index tap = 0; tap < taps; ++tap) table.push_back(weight(phase, tap));
  }
  const auto old_count = static_cast<Index>(wave.samples.size());
  const Index count = ceil_div(old_count * up, down);
  Wave made{rate, std::vector<float>(static_cast<std::size_t>(count))};
  parallel_for(count, 4096, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index middle = i * down / up, phase = i * down % up;
      const Index first = std::max<Index>(0, middle - reach), last = std::min(old_count - 1, middle + reach);
      double sum = 0;
      for (Index j = first; j <= last; ++j) {
        const Index tap = j - middle + reach;
        sum += double{wave.samples[static_cast<std::size_t>(j)]} *
               (has_table ? table[static_cast<std::size_t>(phase * taps + tap)] : weight(phase, tap));
      }
      made.samples[static_cast<std::size_t>(i)] = static_cast<float>(sum);
    }
  });
  return made;
}

}  // namespace heed
