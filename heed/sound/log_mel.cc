#include "heed/sound/log_mel.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/parallel.h"

namespace heed {
namespace {

using Complex = std::complex<double>;

constexpr Index kBins = kLogMelWindow / 2 + 1;

// Without what * does for numbers that are not finite, which takes longer than the rest.
Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The discrete Fourier transform of kLogMelWindow numbers (Cooley and Tukey 1965): of 400 = 5 * 5 * 4 * 4.
class Fourier {
 public:
  Fourier() {
    for (Index i = 0; i < kLogMelWindow; ++i) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(kLogMelWindow);
      roots_.emplace_back(std::cos(angle), std::sin(angle));
    }
  }

  // x[0], x[stride], ... as y[0 .. length).
  void transform(const Complex* x, Index stride, Index length, Complex* y) const {
    if (length == 1) {
      *y = *x;
      return;
    }
    const Index radix = length % 4 == 0 ? 4 : 5, part = length / radix;
    for (Index r = 0; r < radix; ++r) transform(x + r * stride, stride * radix, part, y + r * part);
    for (Index k = 0; k < part; ++k) {
      Complex parts[5];
      for (Index r = 0; r < radix; ++r)
        parts[r] = product(y[r * part + k], roots_[static_cast<std::size_t>(r * k * stride)]);
      for (Index q = 0; q < radix; ++q) {
        Complex sum = parts[0];
        for (Index r = 1; r < radix; ++r) {
          sum += product(parts[r], roots_[static_cast<std::size_t>(q * r % radix * (kLogMelWindow / radix))]);
        }
        y[q * part + k] = sum;
      }
    }
  }

 private:
  std::vector<Complex> roots_;
};

// Slaney's scale: straight up to 1000 Hz, by equal ratios beyond.
constexpr double kMelStep = 200.0 / 3, kStraightEnd = 1000, kStraightMels = kStraightEnd / kMelStep;

double ratio_step() { return std::log(6.4) / 27; }

double mels_of(double hertz) {
  return hertz < kStraightEnd ? hertz / kMelStep : kStraightMels + std::log(hertz / kStraightEnd) / ratio_step();
}

double hertz_of(double mels) {
  return mels < kStraightMels ? mels * kMelStep : kStraightEnd * std::exp((mels - kStraightMels) * ratio_step());
}

// [bands, kBins].
std::vector<double> triangles(Index bands) {
  constexpr double kHighest = kLogMelRate / 2.0;
  std::vector<double> corners;
  for (Index i = 0; i < bands + 2; ++i) {
    corners.push_back(hertz_of(mels_of(kHighest) * static_cast<double>(i) / static_cast<double>(bands + 1)));
  }
  std::vector<double> weights;
  for (auto band = std::size_t{0}; band < static_cast<std::size_t>(bands); ++band) {
    const double low = corners[band], middle = corners[band + 1], high = corners[band + 2];
    for (Index bin = 0; bin < kBins; ++bin) {
      const double hertz = kHighest * static_cast<double>(bin) / (kBins - 1);
      const double height = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      weights.push_back(std::max(height, 0.0) * 2 / (high - low));
    }
  }
  return weights;
}

// The place of a sample in a sound that is mirrored at its ends, which are not said twice.
Index mirrored(Index place, Index length) {
  if (place < 0) place = -place;
  return place < length ? place : 2 * (length - 1) - place;
}

}  // namespace

Tensor log_mel(std::span<const float> samples, const LogMelOptions& options) {
  const Index bands = options.bands, frames = options.frames;
  constexpr Index kMostBands = 1024, kFewestFrames = kLogMelWindow / kLogMelHop, kMostFrames = 1 << 20;
  HEED_CHECK(bands >= 1 && bands <= kMostBands, "log_mel: there are 1 to {} bands, not {}", kMostBands, bands);
  HEED_CHECK(frames >= kFewestFrames && frames <= kMostFrames, "log_mel: there are {} to {} frames, not {}",
             kFewestFrames, kMostFrames, frames);
  const Fourier fourier;
  const std::vector<double> weights = triangles(bands);
  std::vector<double> window;
  for (Index i = 0; i < kLogMelWindow; ++i) {
    window.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / double{kLogMelWindow}));
  }
  const Index length = frames * kLogMelHop, given = std::ssize(samples);
  std::vector<double> powers(static_cast<std::size_t>(frames * bands));
  parallel_for(frames, 16, [&](Index begin, Index end) {
    std::vector<Complex> frame(kLogMelWindow), spectrum(kLogMelWindow);
    for (Index t = begin; t < end; ++t) {
      for (Index i = 0; i < kLogMelWindow; ++i) {
        const Index place = mirrored(t * kLogMelHop + i - kLogMelWindow / 2, length);
        const auto at = static_cast<std::size_t>(i);
        frame[at] = place < given ? window[at] * double{samples[static_cast<std::size_t>(place)]} : 0.0;
      }
      fourier.transform(frame.data(), 1, kLogMelWindow, spectrum.data());
      for (Index band = 0; band < bands; ++band) {
        const double* weight = weights.data() + band * kBins;
        double power = 0;
        for (Index bin = 0; bin < kBins; ++bin)
          power += weight[bin] * std::norm(spectrum[static_cast<std::size_t>(bin)]);
        powers[static_cast<std::size_t>(t * bands + band)] = std::log10(std::max(power, 1e-10));
      }
    }
  });
  const double floor = *std::ranges::max_element(powers) - 8;
  const Tensor result = Tensor::empty(DType::f32, {1, frames, bands});
  std::ranges::transform(powers, result.data<float>(),
                         [&](double x) { return static_cast<float>((std::max(x, floor) + 4) / 4); });
  return result;
}

}  // namespace heed
