#include "heed/viz/colour.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace heed {
namespace {

struct OkLab {
  double lightness, a, b;
};

double to_linear(double part) { return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4); }
double from_linear(double part) { return part <= 0.0031308 ? part * 12.92 : 1.055 * std::pow(part, 1 / 2.4) - 0.055; }

// The matrices below are those of OKLab's definition.
OkLab to_oklab(const Colour& colour) {
  const double r = to_linear(colour.red), g = to_linear(colour.green), b = to_linear(colour.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

// In linear light; parts outside [0, 1] are colours that a screen cannot show.
Colour to_linear_rgb(const OkLab& lab) {
  const double l = std::pow(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
  const double m = std::pow(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
  const double s = std::pow(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

// The colour of this lightness, chroma and hue (degrees), with the chroma lowered to what a screen can show.
Colour from_oklch(double lightness, double chroma, double hue) {
  const double angle = hue * std::numbers::pi / 180;
  const auto linear_at = [&](double c) { return to_linear_rgb({lightness, c * std::cos(angle), c * std::sin(angle)}); };
  const auto shows = [](const Colour& c) {
    const auto [least, most] = std::minmax({c.red, c.green, c.blue});
    return least >= 0 && most <= 1;
  };
  double shown = chroma;
  if (!shows(linear_at(chroma))) {
    shown = 0;
    for (double step = chroma / 2; step > 1e-6; step /= 2) {
      if (shows(linear_at(shown + step))) shown += step;
    }
  }
  const Colour linear = linear_at(shown);
  const auto part = [](double value) { return from_linear(std::clamp(value, 0.0, 1.0)); };
  return {part(linear.red), part(linear.green), part(linear.blue)};
}

constexpr int kColourSteps = 256;
using ColourTable = std::array<Colour, kColourSteps>;

// Samples a path densely and keeps kColourSteps points at equal distances along it.
template <typename Path>
ColourTable even_steps(const Path& path) {
  constexpr int kSamples = 4096;
  std::vector<double> travelled(kSamples, 0);
  std::vector<Colour> colours(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    colours[i] = path(static_cast<double>(i) / (kSamples - 1));
    if (i > 0) travelled[i] = travelled[i - 1] + colour_distance(colours[i - 1], colours[i]);
  }
  ColourTable table;
  for (int i = 0; i < kColourSteps; ++i) {
    const double wanted = travelled.back() * i / (kColourSteps - 1);
    const auto at = std::lower_bound(travelled.begin(), travelled.end(), wanted) - travelled.begin();
    table[i] = colours[std::min<std::ptrdiff_t>(at, kSamples - 1)];
  }
  return table;
}

// Pale to deep: the hue turns from straw over green and blue to violet, the chroma swells and the lightness falls
// evenly.
const ColourTable& sequential_table() {
  static const ColourTable table = even_steps([](double t) {
    const double hue = 105 + 190 * std::pow(t, 0.85);
    const double chroma = 0.004 + 0.126 * std::sin(std::min(1.0, t * 1.6) * std::numbers::pi / 2);
    return from_oklch(0.985 - 0.735 * t, chroma, hue);
  });
  return table;
}

const ColourTable& arm_table(bool above_zero) {
  const auto arm = [](double hue, double turn) {
    return even_steps([=](double t) {
      return from_oklch(0.975 - 0.585 * t, 0.155 * std::sin(t * std::numbers::pi / 2), hue + turn * t);
    });
  };
  static const ColourTable below = arm(235, 30), above = arm(50, -25);
  return above_zero ? above : below;
}

const Colour& look_up(const ColourTable& table, double t) {
  return table[static_cast<std::size_t>(std::lround(std::clamp(t, 0.0, 1.0) * (kColourSteps - 1)))];
}

}  // namespace

Colour sequential_colour(double t, Theme theme) {
  if (std::isnan(t)) return no_number_colour();
  const double clamped = std::clamp(t, 0.0, 1.0);
  return look_up(sequential_table(), theme == Theme::light ? clamped : 1 - clamped);
}

Colour diverging_colour(double t) {
  if (std::isnan(t)) return no_number_colour();
  return look_up(arm_table(t > 0), std::abs(t));
}

Colour categorical_colour(std::size_t i) {
  constexpr std::array<std::uint32_t, 8> kMuted = {0x332288, 0xCC6677, 0x117733, 0xDDAA33,
                                                   0x88CCEE, 0x882255, 0x44AA99, 0x999933};
  const std::uint32_t colour = kMuted[i % kMuted.size()];
  const auto part = [colour](int shift) { return static_cast<double>(colour >> shift & 255U) / 255; };
  return {part(16), part(8), part(0)};
}

Colour paler(const Colour& colour, double share) {
  if (std::isnan(share)) return no_number_colour();
  const double kept = std::clamp(share, 0.0, 1.0);
  const auto mix = [kept](double part) { return 1 - kept * (1 - part); };
  return {mix(colour.red), mix(colour.green), mix(colour.blue)};
}

Colour no_number_colour() { return {0.75, 0.75, 0.75}; }

double lightness(const Colour& colour) { return to_oklab(colour).lightness; }

double colour_distance(const Colour& a, const Colour& b) {
  const OkLab x = to_oklab(a), y = to_oklab(b);
  return std::hypot(x.lightness - y.lightness, x.a - y.a, x.b - y.b);
}

Colour ink_on(const Colour& ground) {
  // The luminance at which black and white contrast equally with it (Web Content Accessibility Guidelines 2.1,
  // "contrast ratio").
  constexpr double kEqualContrast = 0.179;
  const double luminance =
      0.2126 * to_linear(ground.red) + 0.7152 * to_linear(ground.green) + 0.0722 * to_linear(ground.blue);
  return luminance > kEqualContrast ? Colour{0, 0, 0} : Colour{1, 1, 1};
}

std::string hex(const Colour& colour) {
  const auto byte = [](double part) { return static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * 255)); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(colour.red), byte(colour.green), byte(colour.blue));
}

}  // namespace heed
