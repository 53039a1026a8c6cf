// heed_performance_figure CHART.json OUT.svg: draws speed over length, a panel for each kind of row, from the data that
// bench/peers/performance_page.py leaves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/index.h"
#include "heed/io/fields.h"
#include "heed/viz/heatmap.h"
#include "heed/viz/picture.h"

namespace heed {
namespace {

// --- What is drawn ---------------------------------------------------------------------------------------------------

struct SpeedPoint {
  double length = 0, rate = 0;  // GFLOP/s

  template <typename V>
  friend void visit_fields(SpeedPoint& point, V&& visit) {
    visit("length", point.length, "Of the sequence.", NumberRange::at_least(1));
    visit("rate", point.rate, "Of the row.", NumberRange::at_least(0));
  }
};

struct SpeedSeries {
  std::string name{};
  std::vector<SpeedPoint> points{};

  template <typename V>
  friend void visit_fields(SpeedSeries& series, V&& visit) {
    visit("name", series.name, "Who computed it.");
    visit("points", series.points, "In the order of lengths.");
  }
};

struct SpeedPanel {
  std::string title{};
  double peak = 0, limit = 0;
  std::vector<SpeedSeries> series{};

  template <typename V>
  friend void visit_fields(SpeedPanel& panel, V&& visit) {
    visit("title", panel.title, "Which rows.");
    visit("peak", panel.peak, "Of multiply-adds alone.", NumberRange::above(0));
    visit("limit", panel.limit, "With the exponentials.", NumberRange::above(0));
    visit("series", panel.series, "Lines.");
  }
};

struct SpeedChart {
  std::string title{}, machine{};
  std::vector<SpeedPanel> panels{};

  template <typename V>
  friend void visit_fields(SpeedChart& chart, V&& visit) {
    visit("title", chart.title, "Of the figure.");
    visit("machine", chart.machine, "Where it was measured.");
    visit("panels", chart.panels, "Two in a row.");
  }
};

// --- Where it lies ---------------------------------------------------------------------------------------------------

constexpr double kMargin = 16, kHead = 64, kPlotWidth = 300, kPlotHeight = 190;
constexpr double kLeft = 44, kAbove = 26, kBelow = 40, kBetween = 28;  // around a plot
constexpr double kPanelWidth = kLeft + kPlotWidth + kBetween, kPanelHeight = kAbove + kPlotHeight + kBelow;
constexpr std::size_t kAcross = 2;
constexpr int kTicks = 5;
constexpr Colour kInk{0.10, 0.10, 0.14}, kQuietInk{0.38, 0.38, 0.44}, kGridLine{0.89, 0.89, 0.92};
constexpr std::array<Colour, 4> kSeriesColours{
    {{0.32, 0.16, 0.55}, {0.85, 0.42, 0.10}, {0.05, 0.52, 0.50}, {0.55, 0.45, 0.10}}};
const TextStyle kTitle{.size = 14, .bold = true, .colour = kInk};
const TextStyle kQuiet{.size = 10, .colour = kQuietInk};
const TextStyle kPanelTitle{.size = 11, .bold = true, .colour = kInk};

TextStyle anchored(TextStyle style, TextAnchor anchor) {
  style.anchor = anchor;
  return style;
}

// Lengths on a scale of doublings, rates from zero.
struct Plot {
  Box box;
  double shortest = 1, longest = 2, top = 1;

  double x(double length) const {
    const double octaves = std::max(std::log2(longest / shortest), 1.0);
    return box.x + box.width * std::log2(length / shortest) / octaves;
  }
  double y(double rate) const { return box.y + box.height * (1 - rate / top); }
};

Plot plot_of(const SpeedPanel& panel, std::size_t number) {
  Plot plot;
  plot.box = {kMargin + kLeft + static_cast<double>(number % kAcross) * kPanelWidth,
              kHead + kAbove + static_cast<double>(number / kAcross) * kPanelHeight, kPlotWidth, kPlotHeight};
  double most = panel.peak;
  std::vector<double> lengths;
  for (const SpeedSeries& series : panel.series) {
    for (const SpeedPoint& point : series.points) {
      lengths.push_back(point.length);
      most = std::max(most, point.rate);
    }
  }
  HEED_CHECK(!lengths.empty(), "{}: has no points", panel.title);
  plot.shortest = std::ranges::min(lengths), plot.longest = std::ranges::max(lengths);
  plot.top = round_scale(most);
  return plot;
}

std::vector<std::string> series_names(const SpeedChart& chart) {
  std::vector<std::string> names;
  for (const SpeedPanel& panel : chart.panels) {
    for (const SpeedSeries& series : panel.series) {
      if (std::ranges::find(names, series.name) == names.end()) names.push_back(series.name);
    }
  }
  HEED_CHECK(names.size() <= kSeriesColours.size(), "there are {} series, but colours for {}", names.size(),
             kSeriesColours.size());
  return names;
}

// --- How it is drawn -------------------------------------------------------------------------------------------------

void paint_axes(Canvas& canvas, const SpeedPanel& panel, const Plot& plot) {
  const double right = plot.box.x + plot.box.width, bottom = plot.box.y + plot.box.height;
  canvas.text({plot.box.x, plot.box.y - 10}, panel.title, kPanelTitle);
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double rate = plot.top * tick / kTicks, y = plot.y(rate);
    canvas.line({plot.box.x, y}, {right, y}, kGridLine, 1);
    canvas.text({plot.box.x - 6, y + 3.5}, fmt::format("{:g}", rate), anchored(kQuiet, TextAnchor::end));
  }
  for (double length = plot.shortest; length <= plot.longest; length *= 2) {
    const double x = plot.x(length);
    canvas.line({x, bottom}, {x, bottom + 4}, kQuietInk, 1);
    canvas.text({x, bottom + 16}, fmt::format("{:g}", length), anchored(kQuiet, TextAnchor::middle));
  }
  canvas.line({plot.box.x, bottom}, {right, bottom}, kQuietInk, 1);
}

// A line across the plot, named over its right end.
void paint_bound(Canvas& canvas, const Plot& plot, double rate, const std::string& name) {
  const double right = plot.box.x + plot.box.width, y = plot.y(rate);
  canvas.line({plot.box.x, y}, {right, y}, kQuietInk, 1);
  canvas.text({right, y - 4}, name, anchored(kQuiet, TextAnchor::end));
}

void paint_series(Canvas& canvas, const Plot& plot, const SpeedSeries& series, const Colour& colour) {
  constexpr double kMark = 6;
  const auto at = [&](const SpeedPoint& point) { return Point{plot.x(point.length), plot.y(point.rate)}; };
  for (std::size_t i = 1; i < series.points.size(); ++i) {
    canvas.line(at(series.points[i - 1]), at(series.points[i]), colour, 2);
  }
  for (const SpeedPoint& point : series.points) {
    const auto [x, y] = at(point);
    canvas.fill({x - kMark / 2, y - kMark / 2, kMark, kMark}, colour,
                fmt::format("{}, {:g}: {:.1f} GFLOP/s", series.name, point.length, point.rate));
  }
}

void paint_head(Canvas& canvas, const SpeedChart& chart, const std::vector<std::string>& names) {
  canvas.text({kMargin, 26}, chart.title, kTitle);
  double x = kMargin;
  for (std::size_t i = 0; i < names.size(); ++i) {
    canvas.fill({x, 38, 10, 10}, kSeriesColours[i]);
    canvas.text({x + 15, 47}, names[i], kQuiet);
    x += 15 + text_width(names[i], kQuiet) + 20;
  }
  canvas.text({x, 47}, "GFLOP/s over length; " + chart.machine, kQuiet);
}

void paint(Canvas& canvas, const SpeedChart& chart) {
  const std::vector<std::string> names = series_names(chart);
  paint_head(canvas, chart, names);
  for (std::size_t number = 0; number < chart.panels.size(); ++number) {
    const SpeedPanel& panel = chart.panels[number];
    const Plot plot = plot_of(panel, number);
    paint_axes(canvas, panel, plot);
    paint_bound(canvas, plot, panel.peak, "multiply-adds alone");
    paint_bound(canvas, plot, panel.limit, "with the exponentials");
    for (const SpeedSeries& series : panel.series) {
      const auto name = std::ranges::find(names, series.name) - names.begin();
      paint_series(canvas, plot, series, kSeriesColours[static_cast<std::size_t>(name)]);
    }
  }
}

Picture picture_of_chart(const SpeedChart& chart) {
  const std::size_t lines = ceil_div(chart.panels.size(), kAcross);
  std::string description;
  for (const SpeedPanel& panel : chart.panels) description += (description.empty() ? "" : "; ") + panel.title;
  return {.width = 2 * kMargin + kAcross * kPanelWidth - kBetween,
          .height = kHead + static_cast<double>(lines) * kPanelHeight,
          .title = chart.title,
          .description = description,
          .paint = [chart](Canvas& canvas) { paint(canvas, chart); }};
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: heed_performance_figure CHART.json OUT.svg\n");
    return 2;
  }
  try {
    heed::SpeedChart chart;
    heed::from_json(heed::read_json(argv[1]), chart);
    heed::save_picture(heed::picture_of_chart(chart), argv[2]);
  } catch (const heed::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
