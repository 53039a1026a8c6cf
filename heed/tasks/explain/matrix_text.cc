#include "heed/tasks/explain/matrix_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "heed/unicode/text_width.h"

namespace heed {
namespace {

constexpr double kWholeBelow = 1e7;  // larger numbers are written with an exponent
constexpr std::string_view kShades = " .:-=+*#%@";
constexpr Index kMostShadeRows = 64, kMostShadeColumns = 128, kNarrow = 48;
constexpr Index kCut = -1;  // where the middle was cut out
constexpr std::string_view kCutText = "...";

// Which of `count` rows are shown: all, or of more than `most` the first and the last, `kept` in all, with kCut between
// them.
std::vector<Index> shown_indices(Index count, Index most, Index kept) {
  std::vector<Index> shown;
  const Index tail = count <= most ? 0 : kept / 2, head = count <= most ? count : kept - tail;
  for (Index i = 0; i < head; ++i) shown.push_back(i);
  if (count > most) shown.push_back(kCut);
  for (Index i = count - tail; i < count; ++i) shown.push_back(i);
  return shown;
}

enum class NumberStyle { whole, fixed, exponent };

NumberStyle style_of(const LabelledMatrix& matrix) {
  NumberStyle style = NumberStyle::whole;
  for (double value : matrix.values) {
    if (!std::isfinite(value)) continue;
    if (std::abs(value) >= kWholeBelow) return NumberStyle::exponent;
    if (value != std::floor(value)) style = NumberStyle::fixed;
  }
  return style;
}

std::string number_text(double value, NumberStyle style, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (style == NumberStyle::exponent) return fmt::format("{:.{}e}", value, digits);
  std::string text = fmt::format("{:.{}f}", value, style == NumberStyle::whole ? 0 : digits);
  if (text.front() == '-' && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string row_label(const LabelledMatrix& matrix, Index row) {
  return row == kCut ? std::string(kCutText) : matrix.row_labels[static_cast<std::size_t>(row)];
}

Index label_width(const LabelledMatrix& matrix, const std::vector<Index>& rows) {
  Index width = 0;
  for (Index r : rows) width = std::max(width, text_columns(row_label(matrix, r)));
  return width;
}

// Spaces that make a text as wide as `width`.
std::string padding(std::string_view text, Index width) {
  return std::string(static_cast<std::size_t>(std::max<Index>(width - text_columns(text), 0)), ' ');
}

void append_numbers(const LabelledMatrix& matrix, const MatrixTextOptions& options, std::vector<std::string>& lines) {
  const std::vector<Index> rows =
      shown_indices(matrix.rows(), options.most_rows, std::min(options.most_rows, kRowsOfCut));
  const NumberStyle style = style_of(matrix);
  const auto cell = [&](Index r, Index c) {
    if (r == kCut || c == kCut) return std::string(kCutText);
    return number_text(matrix.value(r, c), style, options.digits);
  };
  const auto heading = [&](Index c) {
    return c == kCut ? std::string(kCutText) : matrix.column_labels[static_cast<std::size_t>(c)];
  };
  // One width for all columns but the cut: what a reader compares should stand in step.
  Index width = 0;
  for (Index c = 0; c < matrix.columns(); ++c) {
    width = std::max(width, text_columns(heading(c)));
    for (Index r : rows) width = std::max(width, static_cast<Index>(cell(r, c).size()));
  }
  const Index labels = label_width(matrix, rows), cut = static_cast<Index>(kCutText.size());
  const Index room = options.most_width - labels, column = width + 2;
  const Index all = room / column, with_cut = std::max<Index>((room - 2 - cut) / column, 2);
  const std::vector<Index> columns = shown_indices(matrix.columns(), all, with_cut);
  const auto append_line = [&](std::string line, const auto& text_of) {
    for (Index c : columns) {
      const std::string text = text_of(c);
      line += "  " + padding(text, c == kCut ? cut : width) + text;
    }
    lines.push_back(without_trailing_spaces(line));
  };
  append_line(padding("", labels), heading);
  for (Index r : rows) {
    const std::string label = row_label(matrix, r);
    append_line(label + padding(label, labels), [&](Index c) { return cell(r, c); });
  }
}

void append_shades(const LabelledMatrix& matrix, std::vector<std::string>& lines) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (double value : matrix.values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value), most = std::max(most, value);
  }
  const auto shade = [&](double value) {
    if (!std::isfinite(value)) return '?';
    const double place = most > least ? (value - least) / (most - least) : 0;
    const double steps = static_cast<double>(kShades.size());
    return kShades[static_cast<std::size_t>(std::min(place * steps, steps - 1))];
  };
  const std::vector<Index> rows = shown_indices(matrix.rows(), kMostShadeRows, kMostShadeRows);
  const std::vector<Index> columns = shown_indices(matrix.columns(), kMostShadeColumns, kMostShadeColumns);
  const Index labels = label_width(matrix, rows);
  const std::size_t repeat = matrix.columns() <= kNarrow ? 2 : 1;
  for (Index r : rows) {
    const std::string label = row_label(matrix, r);
    std::string line = label + padding(label, labels) + " |";
    for (Index c : columns) {
      line += r == kCut || c == kCut ? std::string(kCutText) : std::string(repeat, shade(matrix.value(r, c)));
      if (r == kCut) break;
    }
    lines.push_back(r == kCut ? line : line + "|");
  }
}

void append_pattern(const LabelledMatrix& matrix, std::vector<std::string>& lines) {
  const std::vector<Index> rows = shown_indices(matrix.rows(), kMostShadeRows, kMostShadeRows);
  const std::vector<Index> columns = shown_indices(matrix.columns(), kMostShadeColumns, kMostShadeColumns);
  const Index labels = label_width(matrix, rows);
  for (Index r : rows) {
    const std::string label = row_label(matrix, r);
    std::string line = label + padding(label, labels) + " ";
    for (Index c : columns) {
      const bool cut = r == kCut || c == kCut;
      line += cut ? " ..." : matrix.value(r, c) != 0 ? " #" : " .";
      if (r == kCut) break;
    }
    lines.push_back(std::move(line));
  }
}

}  // namespace

std::string matrix_caption(const LabelledMatrix& matrix, Language language) {
  const Words words(language);
  std::string caption = matrix.name;
  if (matrix.batch) caption += words.text("matrix.batch", {std::to_string(*matrix.batch)});
  if (matrix.head) caption += words.text("matrix.head", {std::to_string(*matrix.head)});
  return caption;
}

std::vector<std::string> matrix_lines(const LabelledMatrix& matrix, const MatrixTextOptions& options) {
  std::vector<std::string> lines{
      fmt::format("{} [{}, {}]", matrix_caption(matrix, options.language), matrix.rows(), matrix.columns())};
  switch (matrix.shown) {
    case LabelledMatrix::Shown::numbers:
      append_numbers(matrix, options, lines);
      break;
    case LabelledMatrix::Shown::shades:
      append_shades(matrix, lines);
      break;
    case LabelledMatrix::Shown::pattern:
      append_pattern(matrix, lines);
      break;
  }
  return lines;
}

}  // namespace heed
