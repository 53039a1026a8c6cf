#include "heed/image/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/image/formats.h"

namespace heed {
namespace {

constexpr int kFractionBits = 22;  // of a weight: 8 bits of colour and the sign of a sum fill 32
constexpr Index kRows = 16;        // of one piece of work

double sinc(double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

double reach_of(Resampling resampling) {
  switch (resampling) {
    case Resampling::box:
      return 0.5;
    case Resampling::bilinear:
    case Resampling::hamming:
      return 1;
    case Resampling::bicubic:
      return 2;
    case Resampling::lanczos:
      return 3;
    case Resampling::nearest:  // which is no mean
      break;
  }
  fail("resized: resampling {} is none", static_cast<int>(resampling));
}

double filter(Resampling resampling, double x) {
  const double distance = std::abs(x);
  if (resampling == Resampling::box) return x > -0.5 && x <= 0.5 ? 1 : 0;
  if (resampling == Resampling::bilinear) return distance < 1 ? 1 - distance : 0;
  if (resampling == Resampling::lanczos) return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
  if (resampling == Resampling::hamming) {
    constexpr double kMean = 0.54F, kSwing = 0.46F;  // in f32, as the library has them
    return distance < 1 ? sinc(distance) * (kMean + kSwing * std::cos(std::numbers::pi * distance)) : 0;
  }
  constexpr double kA = -0.5;
  if (distance < 1) return ((kA + 2) * distance - (kA + 3)) * distance * distance + 1;
  if (distance < 2) return (((distance - 5) * distance + 8) * distance - 4) * kA;
  return 0;
}

// The old pixels that make a new one, and how much of each.
struct Mixture {
  Index first = 0;
  std::vector<std::int32_t> weights{};
};

std::vector<Mixture> mixtures(Index from, Index to, Resampling resampling) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = std::max(scale, 1.0), reach = reach_of(resampling) * stretch;
  std::vector<Mixture> all;
  for (Index i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    Mixture mixture{std::max<Index>(0, static_cast<Index>(centre - reach + 0.5))};
    const Index end = std::min(from, static_cast<Index>(centre + reach + 0.5));
    std::vector<double> shares;
    double sum = 0;
    for (Index x = mixture.first; x < end; ++x) {
      shares.push_back(filter(resampling, (static_cast<double>(x) - centre + 0.5) / stretch));
      sum += shares.back();
    }
    for (double share : shares) {
      const double weight = (sum == 0 ? share : share / sum) * (1 << kFractionBits);
      mixture.weights.push_back(static_cast<std::int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5));
    }
    all.push_back(std::move(mixture));
  }
  return all;
}

// The mean of pixels that lie `stride` bytes apart.
void mix(const Mixture& mixture, const std::uint8_t* from, Index stride, std::uint8_t* to) {
  std::int64_t sums[3];
  std::fill_n(sums, 3, std::int64_t{1} << (kFractionBits - 1));
  for (std::int32_t weight : mixture.weights) {
    for (int colour = 0; colour < 3; ++colour) sums[colour] += std::int64_t{from[colour]} * weight;
    from += stride;
  }
  for (int colour = 0; colour < 3; ++colour) {
    to[colour] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(sums[colour] >> kFractionBits, 0, 255));
  }
}

Image empty_image(Index height, Index width) {
  Image image{height, width};
  image.pixels.resize(static_cast<std::size_t>(height * width * 3));
  return image;
}

Image with_width(const Image& image, Index width, Resampling resampling) {
  const std::vector<Mixture> columns = mixtures(image.width, width, resampling);
  Image made = empty_image(image.height, width);
  parallel_for(image.height, kRows, [&](Index begin, Index end) {
    for (Index y = begin; y < end; ++y) {
      std::uint8_t* to = made.pixels.data() + y * width * 3;
      for (const Mixture& column : columns) {
        mix(column, image.at(y, column.first), 3, to);
        to += 3;
      }
    }
  });
  return made;
}

Image with_height(const Image& image, Index height, Resampling resampling) {
  const std::vector<Mixture> rows = mixtures(image.height, height, resampling);
  Image made = empty_image(height, image.width);
  parallel_for(height, kRows, [&](Index begin, Index end) {
    for (Index y = begin; y < end; ++y) {
      const Mixture& row = rows[static_cast<std::size_t>(y)];
      std::uint8_t* to = made.pixels.data() + y * image.width * 3;
      for (Index x = 0; x < image.width; ++x) mix(row, image.at(row.first, x), image.width * 3, to + x * 3);
    }
  });
  return made;
}

// The old pixels in whose place new ones are; places are added up, as the library does.
std::vector<Index> nearest_of(Index from, Index to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<Index> all;
  double place = scale / 2;
  for (Index i = 0; i < to; ++i) {
    all.push_back(std::min(from - 1, static_cast<Index>(place)));
    place += scale;
  }
  return all;
}

Image of_nearest(const Image& image, Index height, Index width) {
  const std::vector<Index> rows = nearest_of(image.height, height), columns = nearest_of(image.width, width);
  Image made = empty_image(height, width);
  std::uint8_t* to = made.pixels.data();
  for (Index y : rows) {
    for (Index x : columns) to = std::copy_n(image.at(y, x), 3, to);
  }
  return made;
}

}  // namespace

Image resized(const Image& image, Index height, Index width, Resampling resampling) {
  HEED_CHECK(height >= 1 && width >= 1, "resized: a picture of {} x {} pixels is none", width, height);
  for (Index rows : {height, image.height}) {
    check_image_extents(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(width), "resized");
  }
  if (resampling == Resampling::nearest) return of_nearest(image, height, width);
  const bool same_width = width == image.width, same_height = height == image.height;
  if (same_width) return same_height ? image : with_height(image, height, resampling);
  const Image wide = with_width(image, width, resampling);
  return same_height ? wide : with_height(wide, height, resampling);
}

}  // namespace heed
