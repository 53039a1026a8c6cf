#include "heed/viz/heatmap.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>

#include "heed/base/check.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr Index kMostPanels = 64;
constexpr Index kMostCells = 4'000'000;
constexpr Index kMostNotes = 20'000;      // cells of an SVG that show their value at the mouse
constexpr std::size_t kLongestNote = 80;  // code points of a label: more is never shown
constexpr double kMargin = 16;
constexpr double kLongestLabel = 132;
constexpr double kSmallestFont = 8;
constexpr double kBarWidth = 12;
constexpr Colour kInk{0.10, 0.10, 0.14};
constexpr Colour kQuietInk{0.38, 0.38, 0.44};
constexpr Colour kGridLine{0.89, 0.89, 0.92};
const TextStyle kTitle{.size = 14, .bold = true, .colour = kInk};
const TextStyle kSubtitle{.size = 10, .colour = kQuietInk};
const TextStyle kAxisTitle{.size = 11, .anchor = TextAnchor::middle, .colour = kQuietInk};
const TextStyle kPanelTitle{.size = 10, .anchor = TextAnchor::middle, .bold = true, .colour = kInk};
const TextStyle kTick{.size = 9, .colour = kInk};

// How the rows, or the columns, lie: every cell `cell` points apart, every `step`-th labelled.
struct Axis {
  double cell = 0;
  Index step = 1;
  TextStyle style;
  std::vector<std::string> labels;  // shortened; empty where not shown
  double reach = 0;                 // how far the labels stand off the cells
  double overhang = 0;              // how far turned labels reach past the last cell
};

struct Layout {
  Axis rows, columns;
  Index panels_across = 1;
  Point first_panel;  // the top left cell's corner
  double panel_dx = 0, panel_dy = 0;
  Box bar;  // the colour scale
  double width = 0, height = 0;
};

// A heat map with its places: what paint needs, shared by the copies of its Picture.
struct Drawing {
  Heatmap map;
  Layout layout;

  Index rows() const { return static_cast<Index>(map.row_labels.size()); }
  Index columns() const { return static_cast<Index>(map.column_labels.size()); }
  bool several() const { return map.panels.size() > 1; }
  bool diverging() const { return map.least < 0; }
  // From the least value to the most: a position on the colour scale.
  Colour colour_of(double value) const {
    if (!std::isfinite(value)) return no_number_colour();
    if (diverging()) return diverging_colour(value / std::max(-map.least, map.most));
    return sequential_colour((value - map.least) / (map.most - map.least));
  }
};

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
  const std::string text = fmt::format("{:.{}f}", value, digits);
  return text.find_first_of("123456789") == std::string::npos && text[0] == '-' ? text.substr(1) : text;  // no "-0.00"
}

// The smallest of 1, 2, 5, 10, 20, ... that is at least `least`.
Index round_step(double least) {
  Index step = 1;
  for (int i = 0; static_cast<double>(step) < least; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

// Cells as large as the page allows, whole points wherever they are large enough to have gaps between them.
double cell_size(Index count, double page, double least, double most) {
  const double size = std::min(page / static_cast<double>(count), most);
  if (size >= least) return std::floor(size);
  const double beyond = 2000.0 / static_cast<double>(count);  // very long: the picture stops growing
  return std::min(least, beyond);
}

Axis make_axis(const std::vector<std::string>& labels, double cell, double spacing) {
  Axis axis;
  axis.cell = cell;
  axis.style = {.size = std::clamp(cell * 0.8, kSmallestFont, 12.0), .colour = kInk};
  axis.step = round_step(std::max(axis.style.size * 1.1, spacing) / cell);
  axis.labels.resize(labels.size());
  for (std::size_t i = 0; i < labels.size(); i += static_cast<std::size_t>(axis.step)) {
    axis.labels[i] = fit_text(labels[i], axis.style, kLongestLabel);
  }
  return axis;
}

double widest(const Axis& axis) {
  double width = 0;
  for (const std::string& label : axis.labels) width = std::max(width, text_width(label, axis.style));
  return width;
}

void lay_rows(Axis& axis) {
  axis.style.anchor = TextAnchor::end;
  axis.reach = widest(axis) + 6;
}

// Labels stand upright on one line where they fit, slanted where there is room between the lines, else on end.
void lay_columns(Axis& axis, bool several_panels) {
  const double between = axis.cell * static_cast<double>(axis.step);
  if (widest(axis) <= between - 4) {
    axis.style.anchor = TextAnchor::middle;
    axis.reach = axis.style.size + 6;
    return;
  }
  axis.style.angle = !several_panels && between * std::sqrt(0.5) >= axis.style.size ? -45 : -90;
  for (std::size_t i = 0; i < axis.labels.size(); ++i) {
    const Box box = text_box({0, 0}, axis.labels[i], axis.style);
    axis.reach = std::max(axis.reach, 6 - box.y);
    const double from_end = (static_cast<double>(axis.labels.size() - i) - 0.5) * axis.cell;
    axis.overhang = std::max(axis.overhang, box.x + box.width - from_end);
  }
}

// The widest number printed in a cell decides how wide cells must be.
double widest_number(const Heatmap& map, double font) {
  double width = 0;
  for (const Heatmap::Panel& panel : map.panels) {
    for (float value : panel.values) {
      width = std::max(width, static_cast<double>(number_text(value, map.digits).size()) * font * 0.64);
    }
  }
  return width;
}

std::array<double, 2> choose_cells(const Drawing& drawing) {
  const Heatmap& map = drawing.map;
  const Index longest = std::max(drawing.rows(), drawing.columns());
  if (map.digits >= 0) return {std::max(26.0, std::ceil(widest_number(map, 10) + 10)), 26};
  if (!map.square) {
    return {cell_size(drawing.columns(), 640, 1, 24), cell_size(drawing.rows(), 400, 1, 24)};
  }
  const double cell = drawing.several() ? cell_size(longest, 230, 9, 16) : cell_size(longest, 560, 10, 28);
  return {cell, cell};
}

Layout lay_out(const Drawing& drawing) {
  const Heatmap& map = drawing.map;
  Layout layout;
  const auto [cell_width, cell_height] = choose_cells(drawing);
  layout.rows = make_axis(map.row_labels, cell_height, map.label_spacing);
  layout.columns = make_axis(map.column_labels, cell_width, map.label_spacing);
  lay_rows(layout.rows);
  lay_columns(layout.columns, drawing.several());

  const auto count = static_cast<Index>(map.panels.size());
  const double panel_width = cell_width * static_cast<double>(drawing.columns());
  const double panel_height = cell_height * static_cast<double>(drawing.rows());
  // About as wide as high, and rather wider.
  const double across = std::ceil(std::sqrt(static_cast<double>(count) * 1.4 * panel_height / panel_width));
  layout.panels_across = std::clamp<Index>(static_cast<Index>(across), 1, std::min<Index>(count, 8));
  const Index down = (count + layout.panels_across - 1) / layout.panels_across;
  layout.panel_dx = panel_width + 18;
  layout.panel_dy = panel_height + 14 + (drawing.several() ? 16 : 0);

  double top = kMargin;
  if (!map.title.empty()) top += 20;
  if (!map.subtitle.empty()) top += 16;
  if (!map.column_title.empty()) top += 18;
  if (drawing.several()) top += 16;
  layout.first_panel = {kMargin + (map.row_title.empty() ? 0 : 18) + layout.rows.reach, top + layout.columns.reach};

  const double right =
      layout.first_panel.x + layout.panel_dx * static_cast<double>(layout.panels_across - 1) + panel_width;
  const double bottom = layout.first_panel.y + layout.panel_dy * static_cast<double>(down - 1) + panel_height;
  layout.bar = {right + 18, layout.first_panel.y, kBarWidth, std::min(bottom - layout.first_panel.y, 220.0)};
  layout.bar.height = std::max(layout.bar.height, 60.0);
  layout.width = std::max({right + layout.columns.overhang, layout.bar.x + kBarWidth + 34,
                           kMargin + text_width(map.title, kTitle), kMargin + text_width(map.subtitle, kSubtitle)}) +
                 kMargin;
  layout.height = std::max(bottom, layout.bar.y + layout.bar.height) + kMargin;
  return layout;
}

void paint_bar(const Drawing& drawing, Canvas& canvas) {
  const Box& bar = drawing.layout.bar;
  const Heatmap& map = drawing.map;
  constexpr int kSlices = 100, kTicks = 4;
  for (int i = 0; i < kSlices; ++i) {
    const double value = map.least + (map.most - map.least) * (i + 0.5) / kSlices;
    canvas.fill({bar.x, bar.y + bar.height * (kSlices - 1 - i) / kSlices, bar.width, bar.height / kSlices},
                drawing.colour_of(value));
  }
  canvas.outline(bar, kGridLine, 1);
  for (int i = 0; i <= kTicks; ++i) {
    const double value = map.least + (map.most - map.least) * i / kTicks;
    const double y = bar.y + bar.height * (kTicks - i) / kTicks;
    canvas.line({bar.x + bar.width, y}, {bar.x + bar.width + 3, y}, kQuietInk, 1);
    canvas.text({bar.x + bar.width + 6, y + 0.35 * kTick.size}, fmt::format("{:.3g}", value), kTick);
  }
}

void paint_cells(const Drawing& drawing, const Heatmap::Panel& panel, Point corner, Canvas& canvas) {
  const Layout& layout = drawing.layout;
  const Heatmap& map = drawing.map;
  const double width = layout.columns.cell, height = layout.rows.cell;
  const double gap = std::min(width, height) >= 9 ? 1 : 0;
  canvas.fill({corner.x - 1, corner.y - 1, width * static_cast<double>(drawing.columns()) + 2 - gap,
               height * static_cast<double>(drawing.rows()) + 2 - gap},
              kGridLine);
  const bool notes = drawing.rows() * drawing.columns() * static_cast<Index>(map.panels.size()) <= kMostNotes;
  for (Index r = 0; r < drawing.rows(); ++r) {
    for (Index c = 0; c < drawing.columns(); ++c) {
      const double value = panel.values[static_cast<std::size_t>(r * drawing.columns() + c)];
      const Colour colour = drawing.colour_of(value);
      const Box box{corner.x + width * static_cast<double>(c), corner.y + height * static_cast<double>(r), width - gap,
                    height - gap};
      canvas.fill(
          box, colour,
          notes ? fmt::format("{} → {}: {}", map.row_labels[r], map.column_labels[c], number_text(value, 3)) : "");
      if (map.digits >= 0) {
        canvas.text({box.x + box.width / 2, box.y + box.height / 2 + 3.6}, number_text(value, map.digits),
                    {.size = 10, .anchor = TextAnchor::middle, .colour = ink_on(colour)});
      }
    }
  }
}

void paint_row_labels(const Layout& layout, Point corner, Canvas& canvas) {
  const Axis& axis = layout.rows;
  for (std::size_t i = 0; i < axis.labels.size(); ++i) {
    const double middle = corner.y + (static_cast<double>(i) + 0.5) * axis.cell;
    canvas.text({corner.x - 6, middle + 0.35 * axis.style.size}, axis.labels[i], axis.style);
  }
}

void paint_column_labels(const Layout& layout, Point corner, Canvas& canvas) {
  const Axis& axis = layout.columns;
  for (std::size_t i = 0; i < axis.labels.size(); ++i) {
    const double middle = corner.x + (static_cast<double>(i) + 0.5) * axis.cell;
    // A turned baseline runs through the label's foot; this moves the letters' middle over the cell's.
    const double shift = axis.style.angle == 0     ? 0
                         : axis.style.angle == -90 ? 0.35 * axis.style.size
                                                   : 0.2 * axis.style.size;
    canvas.text({middle + shift, corner.y - 6}, axis.labels[i], axis.style);
  }
}

void paint(const Drawing& drawing, Canvas& canvas) {
  const Heatmap& map = drawing.map;
  const Layout& layout = drawing.layout;
  double y = kMargin;
  if (!map.title.empty()) canvas.text({kMargin, y += 14}, map.title, kTitle);
  if (!map.subtitle.empty()) canvas.text({kMargin, y += 17}, map.subtitle, kSubtitle);
  const double panel_width = layout.columns.cell * static_cast<double>(drawing.columns());
  const Index rows_above_last = static_cast<Index>(map.panels.size() - 1) / layout.panels_across;
  const double all_width = layout.panel_dx * static_cast<double>(layout.panels_across - 1) + panel_width;
  const double all_height =
      layout.panel_dy * static_cast<double>(rows_above_last) + layout.rows.cell * static_cast<double>(drawing.rows());
  canvas.text({layout.first_panel.x + all_width / 2, y + 20}, map.column_title, kAxisTitle);
  TextStyle upright = kAxisTitle;
  upright.angle = -90;
  canvas.text({kMargin + 10, layout.first_panel.y + all_height / 2}, map.row_title, upright);

  for (std::size_t p = 0; p < map.panels.size(); ++p) {
    const Index across = static_cast<Index>(p) % layout.panels_across,
                down = static_cast<Index>(p) / layout.panels_across;
    const Point corner{layout.first_panel.x + layout.panel_dx * static_cast<double>(across),
                       layout.first_panel.y + layout.panel_dy * static_cast<double>(down)};
    if (across == 0) paint_row_labels(layout, corner, canvas);
    if (down == 0) paint_column_labels(layout, corner, canvas);
    if (drawing.several()) {
      const double above = down == 0 ? layout.columns.reach : 0;
      canvas.text({corner.x + panel_width / 2, corner.y - above - 6}, map.panels[p].title, kPanelTitle);
    }
    paint_cells(drawing, map.panels[p], corner, canvas);
  }
  paint_bar(drawing, canvas);
}

void check_heatmap(const Heatmap& map) {
  const auto rows = static_cast<Index>(map.row_labels.size()), columns = static_cast<Index>(map.column_labels.size());
  const auto panels = static_cast<Index>(map.panels.size());
  HEED_CHECK(panels >= 1 && panels <= kMostPanels, "draw_heatmap: there must be 1 to {} panels, but there are {}",
             kMostPanels, panels);
  HEED_CHECK(rows >= 1 && columns >= 1 && rows <= kMostCells / columns / panels,
             "draw_heatmap: there must be 1 to {} cells, but the shape is {} x {} x {}", kMostCells, panels, rows,
             columns);
  for (const Heatmap::Panel& panel : map.panels) {
    HEED_CHECK(static_cast<Index>(panel.values.size()) == rows * columns,
               "draw_heatmap: panel '{}' must have {} x {} values, but has {}", panel.title, rows, columns,
               panel.values.size());
  }
  HEED_CHECK(std::isfinite(map.least) && std::isfinite(map.most) && map.least < map.most,
             "draw_heatmap: the scale must run from a lesser to a greater number, but runs from {} to {}", map.least,
             map.most);
}

}  // namespace

double round_scale(double value) {
  if (!std::isfinite(value) || value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (double factor : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (factor * power >= value * (1 - 1e-6)) return factor * power;
  }
  return 10 * power;
}

Picture draw_heatmap(Heatmap heatmap) {
  check_heatmap(heatmap);
  for (auto* labels : {&heatmap.row_labels, &heatmap.column_labels}) {
    for (std::string& label : *labels) label = shorten(visible_text(label), kLongestNote);
  }
  auto drawing = std::make_shared<Drawing>();
  drawing->map = std::move(heatmap);
  drawing->layout = lay_out(*drawing);
  Picture picture{.width = std::ceil(drawing->layout.width),
                  .height = std::ceil(drawing->layout.height),
                  .title = drawing->map.title,
                  .description = drawing->map.description,
                  .paint = {}};
  picture.paint = [drawing](Canvas& canvas) { paint(*drawing, canvas); };
  return picture;
}

}  // namespace heed
