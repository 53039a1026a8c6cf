#include "heed/viz/word_columns.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/viz/fonts.h"

namespace heed {
namespace {

// Shortens the words, and tells how wide the widest one is.
double fit_words(const std::vector<std::string>& labels, const TextStyle& style, double longest,
                 std::vector<std::string>& words) {
  double width = 0;
  for (const std::string& label : labels) {
    words.push_back(fit_text(label, style, longest));
    width = std::max(width, text_width(words.back(), style));
  }
  return width;
}

// Rows as far apart as reads well; closer where many of them would make a paper's figure longer than a page likes.
double row_pitch(const FigureStyle& style, std::size_t rows) {
  const double best = 1.5 * style.size();
  if (!style.for_paper()) return best;
  return std::clamp(1.6 * style.width / static_cast<double>(rows), std::min(best, 1.05 * style.least_size()), best);
}

}  // namespace

WordColumns lay_word_columns(const Heatmap& map, double beside, double above) {
  const FigureStyle& style = map.style;
  const double size = style.size(), margin = style.margin(), gap = 0.5 * size;
  const std::size_t rows = std::max(map.row_labels.size(), map.column_labels.size());
  WordColumns columns;
  columns.pitch = row_pitch(style, rows);
  const double word_size = std::clamp(0.9 * columns.pitch, style.least_size(), size);
  columns.left = style.text(word_size / size, TextAnchor::end);
  columns.right = style.text(word_size / size);
  columns.left.language = label_language(map.row_labels);
  columns.right.language = label_language(map.column_labels);
  columns.heading = style.text(0.9);
  columns.heading.colour = kQuietInk;

  const double longest = style.for_paper() ? std::min(12 * size, 0.25 * style.width) : 12 * size;
  const double most_heading = style.for_paper() ? 0.45 * style.width : 12 * size;
  columns.left_heading = fit_text(map.row_title, columns.heading, most_heading);
  columns.right_heading = fit_text(map.column_title, columns.heading, most_heading);
  const double left_heading = text_width(columns.left_heading, columns.heading);
  const double right_heading = text_width(columns.right_heading, columns.heading);
  const double left = fit_words(map.row_labels, columns.left, longest, columns.left_words);
  const double right = fit_words(map.column_labels, columns.right, longest, columns.right_words);

  // Headings begin and end at the pictures' sides, and may reach over the lines.
  columns.left_edge = margin + left;
  columns.lines_begin = columns.left_edge + gap;
  const double after = gap + right + (beside > 0 ? gap + beside : 0) + margin;
  double lines = 14 * size;
  if (style.for_paper()) lines = style.width - columns.lines_begin - after;
  lines = std::max(lines, style.for_paper() ? 0 : left_heading + right_heading + size - left - right);
  HEED_CHECK(lines >= 2 * size, "a figure of {:.0f} points' width has no room for lines between its words",
             style.width);
  columns.lines_end = columns.lines_begin + lines;
  columns.right_edge = columns.lines_end + gap;
  columns.beside = columns.right_edge + right + gap;
  columns.width = std::max(columns.lines_end + after, columns.right_edge + right_heading + margin);
  if (style.for_paper()) columns.width = style.width;

  columns.title = lay_title(map.title, map.subtitle, style,
                            std::max(columns.width, style.for_paper() ? 0 : 29 * size) - 2 * margin);
  columns.width = std::max(columns.width, columns.title.width + 2 * margin);
  columns.headings_y = margin + columns.title.height + 1.2 * size;
  const bool headed = !map.row_title.empty() || !map.column_title.empty();
  columns.first = margin + columns.title.height + (headed ? 2 * size : 0.3 * size) + above + columns.pitch / 2;
  columns.height = columns.first + (static_cast<double>(rows) - 0.5) * columns.pitch + 0.2 * size + margin;
  return columns;
}

void paint_words(const WordColumns& columns, Canvas& canvas) {
  columns.title.paint(canvas);
  TextStyle heading = columns.heading;
  const double left_heading = text_width(columns.left_heading, heading);
  canvas.text({std::max(columns.title.left, columns.left_edge - left_heading), columns.headings_y},
              columns.left_heading, heading);
  const double right_heading = text_width(columns.right_heading, heading);
  canvas.text({std::min(columns.right_edge, columns.width - columns.title.left - right_heading), columns.headings_y},
              columns.right_heading, heading);
  for (std::size_t i = 0; i < columns.left_words.size(); ++i) {
    canvas.text({columns.left_edge, columns.middle(i) + 0.35 * columns.left.size}, columns.left_words[i], columns.left);
  }
  for (std::size_t i = 0; i < columns.right_words.size(); ++i) {
    canvas.text({columns.right_edge, columns.middle(i) + 0.35 * columns.right.size}, columns.right_words[i],
                columns.right);
  }
}

}  // namespace heed
