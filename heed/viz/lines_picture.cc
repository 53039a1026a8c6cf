#include "heed/viz/lines_picture.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/viz/word_columns.h"
#include "heed/viz/word_lines.h"

namespace heed {
namespace {

constexpr double kHeadTitle = 0.82;  // of the labels' size
constexpr WordLineLook kLinesLook{.palest = 0.06, .thinnest = 0.4, .thickest = 2.6};

// A name of a head above the words, as "■ head 3".
struct LegendEntry {
  std::size_t panel;
  std::string text;
  double x, y;  // of the box; of the baseline
};

struct LinesDrawing {
  Heatmap map;
  WordColumns columns;
  std::vector<WordLine> lines{};
  std::vector<LegendEntry> legend{};
};

std::vector<WordLine> lines_of(const Heatmap& map, const WordColumns& columns) {
  std::vector<WordLine> lines;
  for (std::size_t p = 0; p < map.panels.size(); ++p) {
    for (std::size_t i = 0; i < map.panels[p].values.size(); ++i) {
      const double share = scale_share(map, map.panels[p].values[i]);
      const std::size_t row = i / map.column_labels.size(), column = i % map.column_labels.size();
      if (share >= kLeastLineShare) lines.push_back({columns.middle(row), columns.middle(column), p, share});
    }
  }
  sort_lines(lines);
  return lines;
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

void paint_legend(const LinesDrawing& drawing, Canvas& canvas) {
  const TextStyle style = drawing.map.style.text(kHeadTitle);
  for (const LegendEntry& entry : drawing.legend) {
    canvas.fill({entry.x, entry.y - 0.72 * style.size, 0.75 * style.size, 0.75 * style.size},
                categorical_colour(entry.panel));
    canvas.text({entry.x + 1.1 * style.size, entry.y}, entry.text, style);
  }
}

}  // namespace

Picture draw_lines(Heatmap map) {
  check_heatmap(map);
  check_scale_of_lines(map, "draw_lines");
  auto drawing = std::make_shared<LinesDrawing>();
  drawing->map = std::move(map);
  const Heatmap& kept = drawing->map;
  WordColumns& columns = drawing->columns = lay_word_columns(kept, 0, 0);
  // The legend's lines depend on the picture's width, and lie above the words.
  const double margin = kept.style.margin(), top = columns.middle(0) - columns.pitch / 2;
  const double above = lay_legend(kept, margin, columns.width - margin, top, drawing->legend);
  columns.first += above, columns.height += above;
  drawing->lines = lines_of(kept, columns);
  return picture_of(kept, columns.width, columns.height, [drawing](Canvas& canvas) {
    paint_lines(drawing->lines, drawing->columns, kLinesLook, drawing->map.style.size(), canvas);
    paint_legend(*drawing, canvas);
    paint_words(drawing->columns, canvas);
  });
}

}  // namespace heed
