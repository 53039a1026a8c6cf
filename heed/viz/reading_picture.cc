#include "heed/viz/reading_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/viz/heatmap_layout.h"
#include "heed/viz/word_columns.h"

namespace heed {
namespace {

constexpr double kLeastShare = 0.04;  // of the scale: a line that is weaker is not drawn
constexpr double kNumberSize = 0.82;  // of the labels' size

struct Line {
  std::size_t to, panel;
  double share;  // of the scale, in (0, 1]
};

struct Drawing {
  Heatmap map;  // with all rows' labels, and one row in each panel
  WordColumns columns;
  std::vector<std::size_t> chosen{};  // rows
  std::vector<Line> lines{};          // the weakest first
  double cell = 0;                    // the width of the cells beside the words

  double value(std::size_t panel, std::size_t column) const { return map.panels[panel].values[column]; }
  double share(double value) const { return std::clamp((value - map.least) / (map.most - map.least), 0.0, 1.0); }
};

// The panels, each with the mean of some of its rows.
std::vector<Heatmap::Panel> means_of_rows(const Heatmap& map, std::span<const Index> rows) {
  check_heatmap(map);
  HEED_CHECK(!rows.empty(), "reading_of: there must be a row");
  for (Index row : rows) {
    HEED_CHECK(row >= 0 && row < std::ssize(map.row_labels), "reading_of: there is no row {} among {}", row,
               map.row_labels.size());
  }
  const std::size_t columns = map.column_labels.size();
  std::vector<Heatmap::Panel> means;
  for (const Heatmap::Panel& panel : map.panels) {
    Heatmap::Panel mean{panel.title, std::vector<float>(columns)};
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (Index row : rows) sum += panel.values[static_cast<std::size_t>(row) * columns + c];
      mean.values[c] = static_cast<float>(sum / static_cast<double>(rows.size()));
    }
    means.push_back(std::move(mean));
  }
  return means;
}

std::string word_of(const Heatmap& map, std::span<const Index> rows) {
  std::string word;
  for (Index row : rows) word += (word.empty() ? "" : " ") + map.row_labels[static_cast<std::size_t>(row)];
  return word;
}

std::string describe(const Heatmap& map, const std::vector<Heatmap::Panel>& means, const std::string& word) {
  std::string text = fmt::format("What {} looks at most:", word);
  for (const Heatmap::Panel& panel : means) {
    const auto most = std::max_element(panel.values.begin(), panel.values.end());
    text += fmt::format("{} {}: {} ({:.2f})", &panel == means.data() ? "" : ";", panel.title,
                        map.column_labels[static_cast<std::size_t>(most - panel.values.begin())], *most);
  }
  return text + ".";
}

// "head 3" is 3 above its cells, with a rule in its colour: on end where cells are narrow.
void paint_head_numbers(const Drawing& drawing, Canvas& canvas) {
  const WordColumns& columns = drawing.columns;
  const double size = drawing.map.style.size(), top = columns.middle(0) - columns.pitch / 2;
  TextStyle style = drawing.map.style.text(kNumberSize, TextAnchor::middle);
  std::vector<std::string> numbers;
  double widest = 0;
  for (const Heatmap::Panel& panel : drawing.map.panels) {
    numbers.push_back(panel.title.substr(panel.title.find_last_of(' ') + 1));
    widest = std::max(widest, text_width(numbers.back(), style));
  }
  const bool narrow = widest > drawing.cell - 1;
  if (narrow) style.angle = -90, style.anchor = TextAnchor::start;
  for (std::size_t p = 0; p < numbers.size(); ++p) {
    const double x = columns.beside + static_cast<double>(p) * drawing.cell;
    canvas.text({x + drawing.cell / 2 + (narrow ? 0.35 * style.size : 0), top - 0.5 * size}, numbers[p], style);
    canvas.fill({x, top - 0.35 * size, drawing.cell - 0.5, 0.2 * size}, categorical_colour(p));
  }
  TextStyle head = drawing.map.style.text(kNumberSize, TextAnchor::end);
  head.colour = kQuietInk;
  canvas.text({columns.beside - 0.5 * size, top - 0.5 * size}, "head", head);
}

void paint_reading(const Drawing& drawing, Canvas& canvas) {
  const WordColumns& columns = drawing.columns;
  const double size = drawing.map.style.size();
  for (std::size_t row : drawing.chosen) {
    const double width = text_width(columns.left_words[row], columns.left) + 0.6 * size;
    canvas.fill({columns.left_edge - width + 0.3 * size, columns.middle(row) - 0.46 * columns.pitch, width,
                 0.92 * columns.pitch},
                kGridLine);
  }
  const auto [first, last] = std::minmax_element(drawing.chosen.begin(), drawing.chosen.end());
  const double from = (columns.middle(*first) + columns.middle(*last)) / 2, unit = size / 11;
  for (const Line& line : drawing.lines) {
    canvas.line({columns.lines_begin, from}, {columns.lines_end, columns.middle(line.to)},
                paler(categorical_colour(line.panel), 0.1 + 0.9 * line.share), unit * (0.5 + 2.5 * line.share));
  }
  paint_words(columns, canvas);
  if (drawing.map.panels.size() > 1) paint_head_numbers(drawing, canvas);
  for (std::size_t p = 0; p < drawing.map.panels.size(); ++p) {
    const double x = columns.beside + static_cast<double>(p) * drawing.cell;
    for (std::size_t c = 0; c < columns.right_words.size(); ++c) {
      const double value = drawing.value(p, c);
      canvas.fill(
          {x, columns.middle(c) - columns.pitch / 2, drawing.cell - 0.5, columns.pitch - 0.5},
          paler(categorical_colour(p), 0.05 + 0.95 * drawing.share(value)),
          fmt::format("{} → {}: {}", drawing.map.panels[p].title, drawing.map.column_labels[c], number_text(value, 3)));
    }
  }
}

}  // namespace

Heatmap reading_of(Heatmap map, std::span<const Index> rows) {
  map.panels = means_of_rows(map, rows);
  const std::string word = word_of(map, rows);
  map.description = describe(map, map.panels, word);
  map.row_labels = {word};
  return map;
}

Picture draw_reading(Heatmap map, std::span<const Index> rows) {
  auto drawing = std::make_shared<Drawing>();
  map.panels = means_of_rows(map, rows);  // which do not fit the labels any more: what follows draws words, not cells
  HEED_CHECK(map.least >= 0, "draw_reading: a line cannot show what is below zero, and the scale begins at {}",
             map.least);
  for (Index row : rows) drawing->chosen.push_back(static_cast<std::size_t>(row));
  Picture picture{.title = map.title, .description = describe(map, map.panels, word_of(map, rows))};
  take_title_of_style(map);
  if (!map.title.empty()) picture.title = map.title;
  const FigureStyle& style = map.style;
  const auto heads = static_cast<double>(map.panels.size());
  drawing->cell = std::min(1.2 * style.size(), (style.for_paper() ? 0.3 * style.width : 24 * style.size()) / heads);
  drawing->columns = lay_word_columns(map, heads * drawing->cell, heads > 1 ? 1.6 * style.size() : 0);
  picture.width = drawing->columns.width, picture.height = drawing->columns.height;
  picture.pixels_per_inch = style.pixels_per_inch();
  drawing->map = std::move(map);
  for (std::size_t p = 0; p < drawing->map.panels.size(); ++p) {
    for (std::size_t c = 0; c < drawing->map.column_labels.size(); ++c) {
      const double share = drawing->share(drawing->value(p, c));
      if (share >= kLeastShare) drawing->lines.push_back({c, p, share});
    }
  }
  std::stable_sort(drawing->lines.begin(), drawing->lines.end(),
                   [](const Line& a, const Line& b) { return a.share < b.share; });
  picture.paint = [drawing = std::shared_ptr<const Drawing>(drawing)](Canvas& canvas) {
    paint_reading(*drawing, canvas);
  };
  return picture;
}

}  // namespace heed
