#include "heed/viz/figure_style.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "heed/base/check.h"
#include "heed/viz/fonts.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr double kLeastWidth = 72, kMostWidth = 3000, kLeastFont = 2, kMostFont = 72;

struct Unit {
  std::string_view name;
  double points;
};
constexpr Unit kUnits[] = {{"cm", 72 / 2.54}, {"mm", 72 / 25.4}, {"in", 72}, {"pt", 1}};

}  // namespace

TextStyle FigureStyle::text(double relative, TextAnchor anchor) const {
  TextStyle style{.size = relative * size(), .anchor = anchor, .colour = kInk};
  style.font = font;
  return style;
}

void check_style(const FigureStyle& style) {
  const auto within = [](double value, double least, double most) {
    return value == 0 || (value >= least && value <= most);
  };
  HEED_CHECK(within(style.width, kLeastWidth, kMostWidth),
             "a figure's width must lie in [{}, {}] points (2.54 cm to 105 cm), but is {}", kLeastWidth, kMostWidth,
             style.width);
  HEED_CHECK(within(style.font_size, kLeastFont, kMostFont),
             "a figure's font size must lie in [{}, {}] points, but is {}", kLeastFont, kMostFont, style.font_size);
  for (std::string_view family : families_of(style.font)) {
    HEED_CHECK(has_font(family), "this machine has no font '{}'", visible_text(family));
  }
}

double read_length(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  std::string_view unit = error == std::errc() ? std::string_view(end, text.data() + text.size()) : std::string_view();
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const Unit& known : kUnits) {
    if (unit == known.name && std::isfinite(number) && number > 0) return number * known.points;
  }
  fail("a length is a number and its unit, cm, mm, in or pt, such as 8cm; but '{}' is not", visible_text(text));
}

}  // namespace heed
