#include "heed/viz/lines_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/viz/heatmap_layout.h"
#include "heed/viz/word_columns.h"

namespace heed {
namespace {

constexpr double kLeastShare = 0.04;         // of the scale: what is weaker is not drawn
constexpr std::size_t kMostLines = 100'000;  // the strongest
constexpr double kHeadTitle = 0.82;          // of the labels' size

struct Line {
  std::size_t from, to, panel;
  double share;  // of the scale, in (0, 1]
};

// A name of a head above the words, as "■ head 3".
struct LegendEntry {
  std::size_t panel;
  std::string text;
  double x, y;  // of the box; of the baseline
};

struct Drawing {
  Heatmap map;
  WordColumns columns;
  std::vector<Line> lines{};  // the weakest first, so that the strongest lie on top
  std::vector<LegendEntry> legend{};

  double value(std::size_t panel, std::size_t row, std::size_t column) const {
    return map.panels[panel].values[row * map.column_labels.size() + column];
  }
  double share(double value) const { return std::clamp((value - map.least) / (map.most - map.least), 0.0, 1.0); }
};

void check_lines(const Heatmap& map) {
  check_heatmap(map);
  HEED_CHECK(map.least >= 0, "draw_lines: a line cannot show what is below zero, and the scale begins at {}",
             map.least);
}

void sort_lines(std::vector<Line>& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.share < b.share; });
  if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMostLines));
}

void paint_lines(const Drawing& drawing, Canvas& canvas) {
  const double unit = drawing.map.style.size() / 11;
  const WordColumns& columns = drawing.columns;
  for (const Line& line : drawing.lines) {
    canvas.line({columns.lines_begin, columns.middle(line.from)}, {columns.lines_end, columns.middle(line.to)},
                paler(categorical_colour(line.panel), 0.06 + 0.94 * line.share), unit * (0.4 + 2.2 * line.share));
  }
}

// Entries one after the other, in as many lines as they need; how high those are together.
double lay_legend(const Heatmap& map, double left, double right, double top, std::vector<LegendEntry>& legend) {
  if (map.panels.size() < 2) return 0;
  const TextStyle style = map.style.text(kHeadTitle);
  const double step = 1.5 * style.size;
  double x = left, y = top + step;
  for (std::size_t p = 0; p < map.panels.size(); ++p) {
    const std::string text = fit_text(map.panels[p].title, style, right - left - 2 * style.size);
    const double width = 1.1 * style.size + text_width(text, style);
    if (x > left && x + width > right) x = left, y += step;
    legend.push_back({p, text, x, y});
    x += width + 1.2 * style.size;
  }
  return y - top + 0.6 * style.size;
}

void paint_legend(const Drawing& drawing, Canvas& canvas) {
  const TextStyle style = drawing.map.style.text(kHeadTitle);
  for (const LegendEntry& entry : drawing.legend) {
    canvas.fill({entry.x, entry.y - 0.72 * style.size, 0.75 * style.size, 0.75 * style.size},
                categorical_colour(entry.panel));
    canvas.text({entry.x + 1.1 * style.size, entry.y}, entry.text, style);
  }
}

Picture picture_of(std::shared_ptr<const Drawing> drawing, const std::string& name,
                   void (*paint)(const Drawing&, Canvas&)) {
  Picture picture{.width = drawing->columns.width,
                  .height = drawing->columns.height,
                  .title = drawing->map.title.empty() ? name : drawing->map.title,
                  .description = drawing->map.description,
                  .paint = {},
                  .pixels_per_inch = drawing->map.style.pixels_per_inch()};
  picture.paint = [drawing = std::move(drawing), paint](Canvas& canvas) { paint(*drawing, canvas); };
  return picture;
}

}  // namespace

Picture draw_lines(Heatmap map) {
  check_lines(map);
  const std::string name = map.title;
  take_title_of_style(map);
  auto drawing = std::make_shared<Drawing>();
  drawing->map = std::move(map);
  const Heatmap& kept = drawing->map;
  // The legend's lines depend on the picture's width, and lie above the words.
  WordColumns columns = lay_word_columns(kept, 0, 0);
  const double margin = kept.style.margin();
  std::vector<LegendEntry> legend;
  const double above = lay_legend(kept, margin, columns.width - margin, columns.first - columns.pitch / 2, legend);
  drawing->columns = lay_word_columns(kept, 0, above);
  drawing->legend = std::move(legend);
  for (std::size_t p = 0; p < kept.panels.size(); ++p) {
    for (std::size_t r = 0; r < kept.row_labels.size(); ++r) {
      for (std::size_t c = 0; c < kept.column_labels.size(); ++c) {
        const double share = drawing->share(drawing->value(p, r, c));
        if (share >= kLeastShare) drawing->lines.push_back({r, c, p, share});
      }
    }
  }
  sort_lines(drawing->lines);
  return picture_of(drawing, name, [](const Drawing& shown, Canvas& canvas) {
    paint_lines(shown, canvas);
    paint_legend(shown, canvas);
    paint_words(shown.columns, canvas);
  });
}

}  // namespace heed
