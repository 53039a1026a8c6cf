#include "heed/tasks/explain/matrix_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace heed {
namespace {

constexpr double kWholeBelow = 1e7;  // larger numbers are written with an exponent
constexpr std::string_view kShades = " .:-=+*#%@";
constexpr Index kMostShadeRows = 64, kMostShadeColumns = 128, kNarrow = 48;
constexpr Index kCut = -1;  // where the middle was cut out
constexpr std::string_view kCutText = "...";

// Which of `count` rows are shown: all, or the first and the last with kCut between them.
std::vector<Index> shown_indices(Index count, Index most) {
  std::vector<Index> shown;
  const Index tail = count <= most ? 0 : most / 2, head = count <= most ? count : most - tail;
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

std::size_t label_width(const LabelledMatrix& matrix, const std::vector<Index>& rows) {
  std::size_t width = 0;
  for (Index r : rows) {
    width = std::max(width, row_label(matrix, r).size());
  }
  return width;
}

void append_numbers(const LabelledMatrix& matrix, const MatrixTextOptions& options, std::vector<std::string>& lines) {
  const std::vector<Index> rows = shown_indices(matrix.rows(), options.most_rows);
  const NumberStyle style = style_of(matrix);
  const auto cell = [&](Index r, Index c) {
    if (r == kCut || c == kCut) return std::string(kCutText);
    return number_text(matrix.value(r, c), style, options.digits);
  };
  const auto heading = [&](Index c) {
    return c == kCut ? std::string(kCutText) : matrix.column_labels[static_cast<std::size_t>(c)];
  };
  // One width for all columns but the cut: what a reader compares should stand in step.
  std::size_t width = 0;
  for (Index c = 0; c < matrix.columns(); ++c) {
    width = std::max(width, heading(c).size());
    for (Index r : rows) width = std::max(width, cell(r, c).size());
  }
  const std::size_t labels = label_width(matrix, rows);
  const Index room = options.most_width - static_cast<Index>(labels), column = static_cast<Index>(width + 2);
  const Index all = room / column, with_cut = (room - 2 - static_cast<Index>(kCutText.size())) / column;
  const std::vector<Index> columns =
      shown_indices(matrix.columns(), matrix.columns() <= all ? matrix.columns() : std::max<Index>(with_cut, 2));
  const auto append_line = [&](std::string line, const auto& text_of) {
    for (Index c : columns) line += fmt::format("  {:>{}}", text_of(c), c == kCut ? kCutText.size() : width);
    lines.push_back(without_trailing_spaces(line));
  };
  append_line(std::string(labels, ' '), heading);
  for (Index r : rows) {
    append_line(fmt::format("{:<{}}", row_label(matrix, r), labels), [&](Index c) { return cell(r, c); });
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
  const std::vector<Index> rows = shown_indices(matrix.rows(), kMostShadeRows);
  const std::vector<Index> columns = shown_indices(matrix.columns(), kMostShadeColumns);
  const std::size_t labels = label_width(matrix, rows), repeat = matrix.columns() <= kNarrow ? 2 : 1;
  for (Index r : rows) {
    std::string line = fmt::format("{:<{}} |", row_label(matrix, r), labels);
    for (Index c : columns) {
      line += r == kCut || c == kCut ? std::string(kCutText) : std::string(repeat, shade(matrix.value(r, c)));
      if (r == kCut) break;
    }
    lines.push_back(r == kCut ? line : line + "|");
  }
}

}  // namespace

std::vector<std::string> matrix_lines(const LabelledMatrix& matrix, const MatrixTextOptions& options) {
  std::vector<std::string> lines{fmt::format("{} [{}, {}]", matrix.name, matrix.rows(), matrix.columns())};
  if (matrix.shown == LabelledMatrix::Shown::shades) {
    append_shades(matrix, lines);
  } else {
    append_numbers(matrix, options, lines);
  }
  return lines;
}

}  // namespace heed
