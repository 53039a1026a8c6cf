#include "heed/viz/heatmap.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "heed/base/check.h"
#include "heed/viz/heatmap_layout.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr Index kMostPanels = 64;
constexpr Index kMostCells = 4'000'000;
constexpr Index kMostNotes = 20'000;               // cells of an SVG that show their value at the mouse
constexpr std::size_t kLongestNote = 80;           // code points of a label: more is never shown
constexpr double kPanelTitle = 0.9, kTick = 0.82;  // of the labels' size

// A heat map with its places: what paint needs, shared by the copies of its Picture.
struct HeatmapDrawing {
  Heatmap map;
  HeatmapLayout layout;

  Index rows() const { return static_cast<Index>(map.row_labels.size()); }
  Index columns() const { return static_cast<Index>(map.column_labels.size()); }
  bool several() const { return map.panels.size() > 1; }
  TextStyle text(double relative, const Colour& colour, TextAnchor anchor = TextAnchor::start) const {
    TextStyle style = map.style.text(relative, anchor);
    style.colour = colour;
    return style;
  }
};

void paint_titles(const HeatmapDrawing& drawing, Canvas& canvas) {
  const double margin = drawing.map.style.margin();
  drawing.layout.title.paint(canvas);
  const TextStyle axis = drawing.text(1, kQuietInk, TextAnchor::middle);
  const HeatmapLayout& layout = drawing.layout;
  if (!drawing.map.column_title.empty()) {
    const std::string shown = fit_text(drawing.map.column_title, axis, layout.width - 2 * margin);
    const double half = text_width(shown, axis) / 2;
    const double middle = std::clamp(layout.first_panel.x + layout.all_width / 2, margin + half,
                                     std::max(margin + half, layout.width - margin - half));
    canvas.text({middle, layout.column_title_y}, shown, axis);
  }
  TextStyle upright = axis;
  upright.angle = -90;
  if (!drawing.map.row_title.empty()) canvas.text(layout.row_title, drawing.map.row_title, upright);
}

// The scale from its least value, at the left or the bottom, to its most.
void paint_bar(const HeatmapDrawing& drawing, Canvas& canvas) {
  const Box& bar = drawing.layout.bar;
  const Heatmap& map = drawing.map;
  const bool lies = map.style.for_paper();
  constexpr int kSlices = 100, kTicks = 4;
  for (int i = 0; i < kSlices; ++i) {
    const Colour colour = cell_colour(map, map.least + (map.most - map.least) * (i + 0.5) / kSlices);
    const double width = bar.width / kSlices, height = bar.height / kSlices;
    canvas.fill(lies ? Box{bar.x + width * i, bar.y, bar.width - width * i, bar.height}
                     : Box{bar.x, bar.y, bar.width, bar.height - height * i},
                colour);
  }
  canvas.outline(bar, kGridLine, map.style.for_paper() ? 0.5 : 1);
  TextStyle tick = drawing.text(kTick, kInk, lies ? TextAnchor::middle : TextAnchor::start);
  const double mark = 0.27 * map.style.size();
  for (int i = 0; i <= kTicks; ++i) {
    const std::string text = fmt::format("{:.3g}", map.least + (map.most - map.least) * i / kTicks);
    if (lies) {
      const double x = bar.x + bar.width * i / kTicks, y = bar.y + bar.height;
      canvas.line({x, y}, {x, y + mark}, kQuietInk, 0.5);
      if (i == 0) tick.anchor = TextAnchor::start;
      canvas.text({x, y + mark + tick.size}, text, tick);
      tick.anchor = i == kTicks - 1 ? TextAnchor::end : TextAnchor::middle;
    } else {
      const double x = bar.x + bar.width, y = bar.y + bar.height * (kTicks - i) / kTicks;
      canvas.line({x, y}, {x + mark, y}, kQuietInk, 1);
      canvas.text({x + 2 * mark, y + 0.35 * tick.size}, text, tick);
    }
  }
}

void paint_cells(const HeatmapDrawing& drawing, const Heatmap::Panel& panel, Point corner, Canvas& canvas) {
  const HeatmapLayout& layout = drawing.layout;
  const Heatmap& map = drawing.map;
  const double width = layout.columns.cell, height = layout.rows.cell;
  const bool gaps = std::min(width, height) >= 9;
  const double gap = !gaps ? 0 : map.style.for_paper() ? 0.5 : 1;
  canvas.fill({corner.x - gap, corner.y - gap, layout.panel_width + gap, layout.panel_height + gap}, kGridLine);
  const bool notes = drawing.rows() * drawing.columns() * static_cast<Index>(map.panels.size()) <= kMostNotes;
  TextStyle number = drawing.text(1, kInk, TextAnchor::middle);
  number.size = layout.number_size;
  for (Index r = 0; r < drawing.rows(); ++r) {
    for (Index c = 0; c < drawing.columns(); ++c) {
      const double value = panel.values[static_cast<std::size_t>(r * drawing.columns() + c)];
      const Colour colour = cell_colour(map, value);
      // Without gaps a cell reaches below the ones that follow: viewers that soften edges then show no seam.
      const double right = gaps ? -gap : c + 1 < drawing.columns() ? 0.5 * width : 0;
      const double below = gaps ? -gap : r + 1 < drawing.rows() ? 0.5 * height : 0;
      const Box box{corner.x + width * static_cast<double>(c), corner.y + height * static_cast<double>(r),
                    width + right, height + below};
      canvas.fill(
          box, colour,
          notes ? fmt::format("{} → {}: {}", map.row_labels[r], map.column_labels[c], number_text(value, 3)) : "");
      if (layout.number_size > 0) {
        number.colour = ink_on(colour);
        canvas.text({box.x + width / 2, box.y + height / 2 + 0.36 * number.size}, number_text(value, map.digits),
                    number);
      }
    }
  }
  if (!gaps) {
    canvas.outline({corner.x, corner.y, layout.panel_width, layout.panel_height}, kGridLine, 0.5);
  }
}

void paint_row_labels(const HeatmapAxis& axis, Point corner, Canvas& canvas) {
  for (std::size_t i = 0; i < axis.labels.size(); ++i) {
    const double middle = corner.y + (static_cast<double>(i) + 0.5) * axis.cell;
    canvas.text({corner.x - 0.55 * axis.style.size, middle + 0.35 * axis.style.size}, axis.labels[i], axis.style);
  }
}

void paint_column_labels(const HeatmapAxis& axis, Point corner, Canvas& canvas) {
  // A turned baseline runs through the label's foot; this moves the letters' middle over the cell's.
  const double shift = (axis.style.angle == 0 ? 0 : axis.style.angle == -90 ? 0.35 : 0.2) * axis.style.size;
  for (std::size_t i = 0; i < axis.labels.size(); ++i) {
    const double middle = corner.x + (static_cast<double>(i) + 0.5) * axis.cell;
    canvas.text({middle + shift, corner.y - 0.55 * axis.style.size}, axis.labels[i], axis.style);
  }
}

void paint(const HeatmapDrawing& drawing, Canvas& canvas) {
  const HeatmapLayout& layout = drawing.layout;
  paint_titles(drawing, canvas);
  TextStyle panel_title = drawing.text(kPanelTitle, kInk, TextAnchor::middle);
  panel_title.bold = true;
  for (std::size_t p = 0; p < drawing.map.panels.size(); ++p) {
    const Index across = static_cast<Index>(p) % layout.panels_across,
                down = static_cast<Index>(p) / layout.panels_across;
    const Point corner{layout.first_panel.x + layout.panel_dx * static_cast<double>(across),
                       layout.first_panel.y + layout.panel_dy * static_cast<double>(down)};
    if (across == 0) paint_row_labels(layout.rows, corner, canvas);
    if (down == 0) paint_column_labels(layout.columns, corner, canvas);
    if (drawing.several()) {
      const double above = down == 0 ? layout.columns.reach : 0;
      canvas.text({corner.x + layout.panel_width / 2, corner.y - above - 0.5 * panel_title.size},
                  drawing.map.panels[p].title, panel_title);
    }
    paint_cells(drawing, drawing.map.panels[p], corner, canvas);
  }
  if (drawing.map.scale) paint_bar(drawing, canvas);
}

}  // namespace

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
  check_style(map.style);
}

double scale_share(const Heatmap& map, double value) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp((value - map.least) / (map.most - map.least), 0.0, 1.0);
}

Colour cell_colour(const Heatmap& map, double value) {
  if (!std::isfinite(value)) return no_number_colour();
  if (map.least < 0) return diverging_colour(value / std::max(-map.least, map.most));
  return sequential_colour(scale_share(map, value));
}

double round_scale(double value) {
  if (!std::isfinite(value) || value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (double factor : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (factor * power >= value * (1 - 1e-6)) return factor * power;
  }
  return 10 * power;
}

Picture picture_of(const Heatmap& map, double width, double height, std::function<void(Canvas&)> paint) {
  const std::string shown = map.style.title.value_or("");
  return {.width = width,
          .height = height,
          .title = shown.empty() ? map.title : shown,
          .description = map.description,
          .paint = std::move(paint),
          .pixels_per_inch = map.style.pixels_per_inch()};
}

Picture draw_heatmap(Heatmap heatmap) {
  check_heatmap(heatmap);
  for (auto* labels : {&heatmap.row_labels, &heatmap.column_labels}) {
    for (std::string& label : *labels) label = shorten(visible_text(label), kLongestNote);
  }
  auto drawing = std::make_shared<HeatmapDrawing>();
  drawing->map = std::move(heatmap);
  drawing->layout = lay_out(drawing->map);
  return picture_of(drawing->map, drawing->layout.width, drawing->layout.height,
                    [drawing](Canvas& canvas) { paint(*drawing, canvas); });
}

}  // namespace heed
