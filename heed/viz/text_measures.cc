#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/viz/canvas.h"
#include "heed/viz/shaped_text.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

// No letter is narrower than a thousandth of this, so what is cut off here could not have fitted.
constexpr std::size_t kMostBytes = 4096;

std::string_view without_spaces_at_the_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(' ');
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

double anchor_shift(TextAnchor anchor, double width) {
  return anchor == TextAnchor::start ? 0 : anchor == TextAnchor::middle ? -width / 2 : -width;
}

double text_width(std::string_view text, const TextStyle& style) { return ShapedText(text, style).width(); }

Box text_box(Point at, std::string_view text, const TextStyle& style) {
  const ShapedText shaped(text, style);
  const double left = anchor_shift(style.anchor, shaped.width()), right = left + shaped.width();
  const double top = -shaped.ascent(), bottom = shaped.descent();
  const double cosine = std::cos(style.angle * std::numbers::pi / 180);
  const double sine = std::sin(style.angle * std::numbers::pi / 180);
  const auto [x0, x1] = std::minmax({left * cosine - top * sine, left * cosine - bottom * sine,
                                     right * cosine - top * sine, right * cosine - bottom * sine});
  const auto [y0, y1] = std::minmax({left * sine + top * cosine, left * sine + bottom * cosine,
                                     right * sine + top * cosine, right * sine + bottom * cosine});
  return {at.x + x0, at.y + y0, x1 - x0, y1 - y0};
}

std::string fit_text(std::string_view text, const TextStyle& style, double width) {
  const ShapedText shaped(text.substr(0, kMostBytes), style);
  const std::string shown = shaped.shown();
  if (shaped.width() <= width) return shown;
  const std::vector<std::size_t> cuts = shaped.cuts();
  // The longest prefix that fits, by halving: widths grow with length.
  std::size_t fits = 0, beyond = cuts.size();
  const auto shortened = [&](std::size_t cut) { return shown.substr(0, cuts[cut]) + "…"; };
  while (fits + 1 < beyond) {
    const std::size_t middle = (fits + beyond) / 2;
    (text_width(shortened(middle), style) <= width ? fits : beyond) = middle;
  }
  return shortened(fits);
}

std::vector<std::string> break_text(std::string_view text, const TextStyle& style, double width, std::size_t most) {
  const ShapedText shaped(text.substr(0, kMostBytes), style);
  const std::string_view shown = shaped.shown();
  std::vector<std::string> lines;
  for (const auto& [begin, end] : shaped.lines(width)) {
    if (lines.size() + 1 == most) {
      lines.push_back(fit_text(without_spaces_at_the_end(shown.substr(begin)), style, width));
      break;
    }
    lines.emplace_back(without_spaces_at_the_end(shown.substr(begin, end - begin)));
  }
  return lines;
}

}  // namespace heed
