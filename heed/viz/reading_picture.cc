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
#include "heed/viz/word_lines.h"

namespace heed {
namespace {

constexpr double kNumberSize = 0.82;  // of the labels' size
constexpr double kPalestCell = 0.05;  // the least share of a colour
constexpr WordLineLook kReadingLook{.palest = 0.1, .thinnest = 0.5, .thickest = 3};

struct ReadingDrawing {
  Heatmap map;  // with all rows' labels, and one row in each panel
  WordColumns columns;
  std::vector<std::size_t> chosen{};  // rows
  std::vector<WordLine> lines{};
  double cell = 0;  // the width of the cells beside the words
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
void paint_head_numbers(const ReadingDrawing& drawing, Canvas& canvas) {
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

// From the middle of the chosen rows.
std::vector<WordLine> lines_of(const ReadingDrawing& drawing) {
  const auto [first, last] = std::ranges::minmax_element(drawing.chosen);
  const double from = (drawing.columns.middle(*first) + drawing.columns.middle(*last)) / 2;
  std::vector<WordLine> lines;
  for (std::size_t p = 0; p < drawing.map.panels.size(); ++p) {
    for (std::size_t c = 0; c < drawing.map.column_labels.size(); ++c) {
      const double share = scale_share(drawing.map, drawing.map.panels[p].values[c]);
      if (share >= kLeastLineShare) lines.push_back({from, drawing.columns.middle(c), p, share});
    }
  }
  sort_lines(lines);
  return lines;
}

void paint_reading(const ReadingDrawing& drawing, Canvas& canvas) {
  const WordColumns& columns = drawing.columns;
  const double size = drawing.map.style.size();
  for (std::size_t row : drawing.chosen) {
    const double width = text_width(columns.left_words[row], columns.left) + 0.6 * size;
    canvas.fill({columns.left_edge - width + 0.3 * size, columns.middle(row) - 0.46 * columns.pitch, width,
                 0.92 * columns.pitch},
                kGridLine);
  }
  paint_lines(drawing.lines, columns, kReadingLook, size, canvas);
  paint_words(columns, canvas);
  if (drawing.map.panels.size() > 1) paint_head_numbers(drawing, canvas);
  for (std::size_t p = 0; p < drawing.map.panels.size(); ++p) {
    const double x = columns.beside + static_cast<double>(p) * drawing.cell;
    for (std::size_t c = 0; c < columns.right_words.size(); ++c) {
      const Heatmap::Panel& panel = drawing.map.panels[p];
      const double value = panel.values[c], share = scale_share(drawing.map, value);
      canvas.fill({x, columns.middle(c) - columns.pitch / 2, drawing.cell - 0.5, columns.pitch - 0.5},
                  paler(categorical_colour(p), kPalestCell + (1 - kPalestCell) * share),
                  fmt::format("{} → {}: {}", panel.title, drawing.map.column_labels[c], number_text(value, 3)));
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
  map.panels = means_of_rows(map, rows);  // which do not fit the labels any more: what follows draws words, not cells
  check_scale_of_lines(map, "draw_reading");
  map.description = describe(map, map.panels, word_of(map, rows));
  auto drawing = std::make_shared<ReadingDrawing>();
  for (Index row : rows) drawing->chosen.push_back(static_cast<std::size_t>(row));
  const FigureStyle& style = map.style;
  const auto heads = static_cast<double>(map.panels.size());
  drawing->cell = std::min(1.2 * style.size(), (style.for_paper() ? 0.3 * style.width : 24 * style.size()) / heads);
  drawing->columns = lay_word_columns(map, heads * drawing->cell, heads > 1 ? 1.6 * style.size() : 0);
  drawing->map = std::move(map);
  drawing->lines = lines_of(*drawing);
  return picture_of(drawing->map, drawing->columns.width, drawing->columns.height,
                    [drawing](Canvas& canvas) { paint_reading(*drawing, canvas); });
}

}  // namespace heed
