#include "heed/viz/figure_title.h"

#include <algorithm>

namespace heed {
namespace {

// Of the labels' size: a paper's caption says what a title says.
constexpr double kTitleSize = 1.27, kPaperTitleSize = 1.1, kSubtitleSize = 0.9;
constexpr double kLineHeight = 1.3;  // of its own size
constexpr std::size_t kMostTitleLines = 6;

void add_lines(const std::string& text, const TextStyle& style, double room, std::vector<std::string>& lines,
               FigureTitle& placed) {
  if (text.empty()) return;
  lines = break_text(text, style, room, kMostTitleLines);
  for (const std::string& line : lines) placed.width = std::max(placed.width, text_width(line, style));
  placed.height += static_cast<double>(lines.size()) * kLineHeight * style.size;
}

}  // namespace

FigureTitle lay_title(const std::string& title, const std::string& subtitle, const FigureStyle& style, double room) {
  FigureTitle placed{.title_style = style.text(style.for_paper() ? kPaperTitleSize : kTitleSize),
                     .subtitle_style = style.text(kSubtitleSize)};
  placed.title_style.bold = true;
  placed.subtitle_style.colour = kQuietInk;
  placed.left = placed.top = style.margin();
  add_lines(style.title.value_or(title), placed.title_style, room, placed.title, placed);
  if (!style.title) add_lines(subtitle, placed.subtitle_style, room, placed.subtitle, placed);
  return placed;
}

void FigureTitle::paint(Canvas& canvas) const {
  double y = top;
  const auto write = [&](const std::vector<std::string>& lines, const TextStyle& style) {
    for (const std::string& line : lines) {
      canvas.text({left, y + style.size}, line, style);
      y += kLineHeight * style.size;
    }
  };
  write(title, title_style);
  write(subtitle, subtitle_style);
}

}  // namespace heed
