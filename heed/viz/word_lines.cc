#include "heed/viz/word_lines.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr std::size_t kMostLines = 100'000;

}  // namespace

void check_scale_of_lines(const Heatmap& map, const char* caller) {
  HEED_CHECK(map.least >= 0, "{}: a line cannot show what is below zero, and the scale begins at {}", caller,
             map.least);
}

void sort_lines(std::vector<WordLine>& lines) {
  std::ranges::stable_sort(lines, {}, &WordLine::share);
  if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMostLines));
}

void paint_lines(const std::vector<WordLine>& lines, const WordColumns& columns, const WordLineLook& look, double size,
                 Canvas& canvas) {
  for (const WordLine& line : lines) {
    const double width = look.thinnest + (look.thickest - look.thinnest) * line.share;
    canvas.line({columns.lines_begin, line.from}, {columns.lines_end, line.to},
                paler(categorical_colour(line.panel), look.palest + (1 - look.palest) * line.share), width * size / 11);
  }
}

}  // namespace heed
