#include "heed/viz/heatmap_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/viz/fonts.h"

namespace heed {
namespace {

Index rows_of(const Heatmap& map) { return static_cast<Index>(map.row_labels.size()); }
Index columns_of(const Heatmap& map) { return static_cast<Index>(map.column_labels.size()); }
Index panels_of(const Heatmap& map) { return static_cast<Index>(map.panels.size()); }
bool several(const Heatmap& map) { return map.panels.size() > 1; }

// --- How large cells are ---------------------------------------------------------------------------------------------

struct Cells {
  double width = 0, height = 0;
};

// Cells as large as the page allows, whole points wherever they are large enough to have gaps between them.
double cell_size(Index count, double page, double least, double most) {
  const double size = std::min(page / static_cast<double>(count), most);
  if (size >= least) return std::floor(size);
  const double beyond = 2000.0 / static_cast<double>(count);  // very long: the picture stops growing
  return std::min(least, beyond);
}

// The most characters that a number in a cell has; 0 where there are none. Looks at every value.
std::size_t longest_number(const Heatmap& map) {
  if (map.digits < 0) return 0;
  std::size_t longest = 1;
  for (const Heatmap::Panel& panel : map.panels) {
    for (float value : panel.values) longest = std::max(longest, number_text(value, map.digits).size());
  }
  return longest;
}

constexpr double kDigitWidth = 0.64;  // of the font's size

Cells natural_cells(const Heatmap& map, std::size_t characters) {
  const double size = map.style.size(), unit = size / 11;
  const auto scaled = [unit](double cell) { return cell * unit; };
  if (map.digits >= 0) {
    const double number = static_cast<double>(characters) * kDigitWidth * 0.9 * size;
    return {std::max(2.4 * size, std::ceil(number + 0.9 * size)), 2.4 * size};
  }
  if (!map.square) {
    return {scaled(cell_size(columns_of(map), 640, 1, 24)), scaled(cell_size(rows_of(map), 400, 1, 24))};
  }
  const Index longest = std::max(rows_of(map), columns_of(map));
  const double cell = several(map) ? cell_size(longest, 230, 9, 16) : cell_size(longest, 560, 10, 28);
  return {scaled(cell), scaled(cell)};
}

// The height that goes with a width that the paper dictates: square cells, but rows that can be labelled, and no figure
// much higher than wide.
double height_for(const Heatmap& map, double cell_width) {
  const double size = map.style.size(), count = static_cast<double>(rows_of(map));
  const double panel_width = cell_width * static_cast<double>(columns_of(map));
  if (map.digits >= 0) return std::min(2.4 * size, std::max(cell_width, 1.2 * size));
  if (!map.square) return std::min(0.6 * panel_width / count, 2.2 * size);
  const double labelled = std::min(1.1 * map.style.least_size(), panel_width / count);
  return std::min(std::max(cell_width, labelled), 1.6 * map.style.width / count);
}

// --- Labels ----------------------------------------------------------------------------------------------------------

// The smallest of 1, 2, 5, 10, 20, ... that is at least `least`.
Index round_step(double least) {
  Index step = 1;
  for (int i = 0; static_cast<double>(step) < least; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

HeatmapAxis make_axis(const Heatmap& map, const std::vector<std::string>& labels, double cell) {
  const FigureStyle& style = map.style;
  HeatmapAxis axis;
  axis.cell = cell;
  axis.style = style.text(std::clamp(0.85 * cell, style.least_size(), style.size()) / style.size());
  axis.style.language = label_language(labels);
  const double pitch = axis.style.size * (style.for_paper() ? 1 : 1.1);
  axis.step = round_step(std::max(pitch, map.label_spacing * style.size() / 11) / cell);
  axis.labels.resize(labels.size());
  const double longest = style.for_paper() ? std::min(12 * style.size(), 0.3 * style.width) : 12 * style.size();
  for (std::size_t i = 0; i < labels.size(); i += static_cast<std::size_t>(axis.step)) {
    axis.labels[i] = fit_text(labels[i], axis.style, longest);
  }
  return axis;
}

double widest(const HeatmapAxis& axis) {
  double width = 0;
  for (const std::string& label : axis.labels) {
    if (!label.empty()) width = std::max(width, text_width(label, axis.style));
  }
  return width;
}

HeatmapAxis lay_rows(const Heatmap& map, double cell) {
  HeatmapAxis axis = make_axis(map, map.row_labels, cell);
  axis.style.anchor = TextAnchor::end;
  axis.reach = widest(axis) + 0.55 * axis.style.size;
  return axis;
}

// Labels stand upright on one line where they fit, slanted where there is room between the lines, else on end.
HeatmapAxis lay_columns(const Heatmap& map, double cell) {
  HeatmapAxis axis = make_axis(map, map.column_labels, cell);
  const double between = axis.cell * static_cast<double>(axis.step), gap = 0.55 * axis.style.size;
  const double width = widest(axis);
  if (width <= between - 0.35 * axis.style.size) {
    axis.style.anchor = TextAnchor::middle;
    axis.reach = axis.style.size + gap;
    return axis;
  }
  axis.style.angle = !several(map) && between * std::sqrt(0.5) >= axis.style.size ? -45 : -90;
  for (std::size_t i = 0; i < axis.labels.size(); ++i) {
    if (axis.labels[i].empty()) continue;
    const Box box = text_box({0, 0}, axis.labels[i], axis.style);
    axis.reach = std::max(axis.reach, gap - box.y);
    const double from_end = (static_cast<double>(axis.labels.size() - i) - 0.5) * axis.cell;
    axis.overhang = std::max(axis.overhang, box.x + box.width + 0.35 * axis.style.size - from_end);
  }
  return axis;
}

// --- Everything ------------------------------------------------------------------------------------------------------

// About as wide as high, and rather wider.
Index panels_across(const Heatmap& map, const Cells& cells) {
  const double shape =
      cells.height * static_cast<double>(rows_of(map)) / (cells.width * static_cast<double>(columns_of(map)));
  const double across = std::ceil(std::sqrt(static_cast<double>(panels_of(map)) * 1.4 * shape));
  return std::clamp<Index>(static_cast<Index>(across), 1, std::min<Index>(panels_of(map), 8));
}

// What lies beside each other.
void place_across(const Heatmap& map, HeatmapLayout& layout) {
  const FigureStyle& style = map.style;
  const double size = style.size();
  layout.panel_width = layout.columns.cell * static_cast<double>(columns_of(map));
  layout.panel_dx = layout.panel_width + (style.for_paper() ? 0.9 : 1.6) * size;
  layout.first_panel.x = style.margin() + (map.row_title.empty() ? 0 : 1.6 * size) + layout.rows.reach;
  layout.all_width = layout.panel_dx * static_cast<double>(layout.panels_across - 1) + layout.panel_width;
  const double right = layout.first_panel.x + layout.all_width;
  if (style.for_paper()) {
    layout.bar = {layout.first_panel.x, 0, std::min(layout.all_width, 18 * size), 0.7 * size};
    layout.width = right + std::max(layout.columns.overhang, size) + style.margin();
  } else {
    layout.bar = {right + 1.6 * size, 0, 1.1 * size, 0};
    layout.width =
        std::max(right + layout.columns.overhang, map.scale ? layout.bar.x + 4.2 * size : 0) + style.margin();
  }
}

// The titles in lines, and below them what lies under each other.
void place_down(const Heatmap& map, HeatmapLayout& layout) {
  const FigureStyle& style = map.style;
  const double size = style.size(), margin = style.margin();
  const double room = std::max(layout.width, style.for_paper() ? 0 : 29 * size) - 2 * margin;
  layout.title = lay_title(map.title, map.subtitle, style, room);
  layout.width = std::max(layout.width, layout.title.width + 2 * margin);
  double y = margin + layout.title.height;
  layout.column_title_y = y + (style.for_paper() ? 1 : 1.6) * size;
  if (!map.column_title.empty()) y += (style.for_paper() ? 1.4 : 1.9) * size;
  if (several(map)) y += 1.45 * size;
  layout.first_panel.y = y + layout.columns.reach;

  const Index down = ceil_div(panels_of(map), layout.panels_across);
  layout.panel_height = layout.rows.cell * static_cast<double>(rows_of(map));
  layout.panel_dy = layout.panel_height + (several(map) ? 2.6 : 1.3) * size;
  layout.all_height = layout.panel_dy * static_cast<double>(down - 1) + layout.panel_height;
  double bottom = layout.first_panel.y + layout.all_height;
  if (!map.scale) {
    // nothing below or beside the cells
  } else if (style.for_paper()) {
    layout.bar.y = bottom + 0.8 * size;
    bottom = layout.bar.y + layout.bar.height + 1.3 * size;
  } else {
    layout.bar.y = layout.first_panel.y;
    layout.bar.height = std::max(std::min(layout.all_height, 20 * size), 5.5 * size);
    bottom = std::max(bottom, layout.bar.y + layout.bar.height);
  }
  // A title on end is longer than a few rows are high: it then begins at the top of the labels, or makes room.
  const double half = map.row_title.empty() ? 0 : text_width(map.row_title, style.text(1)) / 2;
  const double middle = std::max(layout.first_panel.y + layout.all_height / 2, margin + half);
  layout.row_title = {margin + 0.9 * size, middle};
  layout.height = std::max(bottom, middle + half) + margin;
}

HeatmapLayout lay_out_with(const Heatmap& map, const Cells& cells, Index across) {
  HeatmapLayout layout;
  layout.panels_across = across;
  layout.rows = lay_rows(map, cells.height);
  layout.columns = lay_columns(map, cells.width);
  place_across(map, layout);
  return layout;
}

// Labels are as large as cells let them be, and cells as wide as labels let them be: a few rounds agree.
HeatmapLayout lay_out_for_paper(const Heatmap& map, Index across) {
  const double wanted = map.style.width, count = static_cast<double>(across * columns_of(map));
  double width = 0.7 * wanted / count;
  HeatmapLayout layout;
  constexpr int kRounds = 12, kFreeRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    layout = lay_out_with(map, {width, height_for(map, width)}, across);
    const double excess = layout.width - wanted;
    if (excess <= 0 && (excess > -0.1 || round >= kFreeRounds)) break;
    width -= excess / count;
    HEED_CHECK(width * count > 0.1 * wanted, "a figure of {:.0f} points' width has no room for cells beside its labels",
               wanted);
  }
  layout.width = wanted;
  return layout;
}

double number_size(const FigureStyle& style, double cell_width, std::size_t characters) {
  if (characters == 0) return 0;
  const double size = std::min(0.9 * style.size(), 0.9 * cell_width / (kDigitWidth * static_cast<double>(characters)));
  return size >= 0.8 * style.least_size() ? size : 0;
}

}  // namespace

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
  const std::string text = fmt::format("{:.{}f}", value, digits);
  return text.find_first_of("123456789") == std::string::npos && text[0] == '-' ? text.substr(1) : text;  // no "-0.00"
}

HeatmapLayout lay_out(const Heatmap& map) {
  const std::size_t longest = longest_number(map);
  const Cells natural = natural_cells(map, longest);
  const Index across = panels_across(map, natural);
  HeatmapLayout layout = map.style.for_paper() ? lay_out_for_paper(map, across) : lay_out_with(map, natural, across);
  layout.number_size = number_size(map.style, layout.columns.cell, longest);
  place_down(map, layout);
  if (!map.style.for_paper()) layout.width = std::ceil(layout.width), layout.height = std::ceil(layout.height);
  return layout;
}

}  // namespace heed
