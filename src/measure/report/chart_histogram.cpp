#include <fmt/format.h>

#include <algorithm>

#include "measure/report/chart_axes.hpp"
#include "measure/report/charts.hpp"

namespace saccade {
namespace {

constexpr double kMarkRow = 15;
constexpr double kPlotHeight = 200;

/// A mark's label, and the row above the plot where it does not overlap others.
struct PlacedMark {
  double x = 0;
  double label_x = 0;
  int row = 0;
  std::string text;
};

std::vector<PlacedMark> place_marks(const LatencyHistogram& chart, const PlotArea& area, const Scale& x) {
  std::vector<PlacedMark> placed;
  std::vector<double> row_ends;
  for (const Mark& mark : chart.marks) {
    if (mark.at < chart.shape.bins.front().low || mark.at > chart.shape.bins.back().high) continue;
    PlacedMark each{.x = x(mark.at.count()), .text = fmt::format("{} {}", mark.name, duration_text(mark.at))};
    const double half = text_width(each.text, 11) / 2 + 4;
    each.label_x = std::clamp(each.x, area.left + half, area.right - half);
    while (each.row < static_cast<int>(row_ends.size()) &&
           row_ends[static_cast<std::size_t>(each.row)] > each.label_x - half)
      ++each.row;
    row_ends.resize(std::max(row_ends.size(), static_cast<std::size_t>(each.row) + 1));
    row_ends[static_cast<std::size_t>(each.row)] = each.label_x + half;
    placed.push_back(std::move(each));
  }
  return placed;
}

std::string describe(const LatencyHistogram& chart) {
  std::string text = fmt::format("{} samples", chart.shape.samples);
  for (const Mark& mark : chart.marks) text += fmt::format(", {} {}", mark.name, duration_text(mark.at));
  return text + fmt::format(", longest {}", duration_text(chart.shape.longest));
}

void draw_bars(Svg& svg, const LatencyShape& shape, const Scale& x, const Scale& y, double base) {
  for (const LatencyShape::Bin& bin : shape.bins) {
    if (bin.count <= 0) continue;
    const double left = x(bin.low.count());
    const double right = x(bin.high.count());
    svg.rect(left, y(bin.count), std::max(right - left - 1, 0.6), base - y(bin.count), "bar",
             fmt::format("{} to {}: {:.0f}", duration_text(bin.low), duration_text(bin.high), bin.count));
  }
}

}  // namespace

std::string draw(const LatencyHistogram& chart, int width) {
  const LatencyShape& shape = chart.shape;
  if (shape.bins.empty()) {
    Svg empty(width, 40, chart.title, "no samples");
    empty.text(0, 24, "no samples", "label");
    return empty.str();
  }
  const double from = shape.bins.front().low.count();
  const double to = shape.bins.back().high.count();
  PlotArea area{.left = 48, .right = static_cast<double>(width) - 12};
  const Scale x = Scale::linear(from, to, area.left, area.right);
  const std::vector<PlacedMark> marks = place_marks(chart, area, x);
  int rows = 0;
  for (const PlacedMark& mark : marks) rows = std::max(rows, mark.row + 1);
  area.top = 8 + rows * kMarkRow;
  area.bottom = area.top + kPlotHeight;
  double highest = 1;
  for (const auto& bin : shape.bins) highest = std::max(highest, bin.count);
  for (const auto& point : shape.density) highest = std::max(highest, point.count);
  const Scale y = Scale::linear(0, highest * 1.04, area.bottom, area.top);

  Svg svg(width, static_cast<int>(area.bottom) + 42, chart.title, describe(chart));
  draw_value_grid(svg, area, y, highest, 1);
  draw_bars(svg, shape, x, y, area.bottom);
  std::vector<Svg::Point> curve;
  for (const auto& point : shape.density) curve.push_back({x(point.at.count()), y(point.count)});
  svg.path(curve, "density");
  const auto label_y = [&](const PlacedMark& mark) { return area.top - 6 - mark.row * kMarkRow; };
  for (const PlacedMark& mark : marks) svg.line(mark.x, label_y(mark) + 3, mark.x, area.bottom, "mark");
  for (const PlacedMark& mark : marks)
    svg.text(mark.label_x, label_y(mark), mark.text, "tick halo", Svg::Anchor::kMiddle);
  draw_time_axis(svg, area, x, shape.bins.front().low, shape.bins.back().high, time_unit(shape.bins.back().high),
                 "time");
  std::string note = width < 500 ? "samples per bar, density" : "samples per bar; the curve is the density";
  if (shape.beyond > 0) note = fmt::format("{} beyond, up to {}", shape.beyond, duration_text(shape.longest));
  svg.text(area.left, area.bottom + 34, note, "label");
  return svg.str();
}

}  // namespace saccade
