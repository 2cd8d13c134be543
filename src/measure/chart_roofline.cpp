#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/chart_axes.hpp"
#include "measure/charts.hpp"

namespace saccade {
namespace {

constexpr double kLargestDot = 13;
constexpr double kSmallestDot = 2.5;

struct Range {
  double low = std::numeric_limits<double>::max();
  double high = 0;
  void add(double value) {
    if (!(value > 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct Axes {
  PlotArea area;
  Range intensity;
  Range rate;
  Scale x;
  Scale y;
};

bool shows(const Roofline::Point& point) { return point.intensity > 0 && point.rate > 0; }

double fastest(const std::vector<Roofline::Ceiling>& ceilings) {
  double best = 0;
  for (const Roofline::Ceiling& ceiling : ceilings) best = std::max(best, ceiling.rate);
  return best;
}

/// Whole decades that hold every dot and the ridges where slopes meet the ceilings.
Axes axes_of(const Roofline& chart, const PlotArea& area) {
  Range intensity;
  Range rate;
  for (const Roofline::Point& point : chart.points) {
    if (!shows(point)) continue;
    intensity.add(point.intensity);
    rate.add(point.rate);
  }
  const double peak = fastest(chart.compute);
  for (const Roofline::Ceiling& ceiling : chart.compute) rate.add(ceiling.rate);
  for (const Roofline::Ceiling& slope : chart.memory)
    if (slope.rate > 0) intensity.add(peak / slope.rate);
  if (intensity.high == 0) intensity = {0.1, 100};
  if (rate.high == 0) rate = {1e9, 1e12};
  const auto widen = [](Range& range) {
    range.low = std::pow(10, std::floor(std::log10(range.low) - 0.05));
    range.high = std::pow(10, std::ceil(std::log10(range.high) + 0.05));
  };
  widen(intensity);
  // Half a decade above the highest ceiling is room for its name.
  rate.low = std::pow(10, std::floor(std::log10(rate.low) - 0.05));
  rate.high *= 3;
  return {area, intensity, rate, Scale::logarithmic(intensity.low, intensity.high, area.left, area.right),
          Scale::logarithmic(rate.low, rate.high, area.bottom, area.top)};
}

void draw_axes(Svg& svg, const Axes& axes) {
  const PlotArea& area = axes.area;
  for (double decade : decades(axes.intensity.low, axes.intensity.high)) {
    svg.line(axes.x(decade), area.top, axes.x(decade), area.bottom, "grid");
    svg.text(axes.x(decade), area.bottom + 17, number_text(decade), "tick", Svg::Anchor::kMiddle);
  }
  for (double decade : decades(axes.rate.low, axes.rate.high)) {
    svg.line(area.left, axes.y(decade), area.right, axes.y(decade), "grid");
    svg.text(area.left - 6, axes.y(decade) + 4, quantity_text(decade, ""), "tick", Svg::Anchor::kEnd);
  }
  svg.line(area.left, area.bottom, area.right, area.bottom, "axis");
  svg.line(area.left, area.top, area.left, area.bottom, "axis");
  svg.text(area.right, area.bottom + 34, "operations a byte moved", "label", Svg::Anchor::kEnd);
  svg.text(0, 12, "operations a second", "label");
}

/// A bandwidth's line from the left edge, or the bottom, up to the highest ceiling.
void draw_slope(Svg& svg, const Axes& axes, const Roofline::Ceiling& slope, double peak, double& last_label) {
  if (!(slope.rate > 0)) return;
  const double start = std::max(axes.intensity.low, axes.rate.low / slope.rate);
  const double end = std::min(axes.intensity.high, (peak > 0 ? peak : axes.rate.high) / slope.rate);
  if (end <= start) return;
  svg.line(axes.x(start), axes.y(start * slope.rate), axes.x(end), axes.y(end * slope.rate), "roof");
  const std::string name = fmt::format("{} {}", slope.name, quantity_text(slope.rate, "B/s"));
  // Names stand under the lines' left ends, kept apart from one another.
  const double label = std::max(axes.y(start * slope.rate) + 14, last_label + 14);
  if (label > axes.area.bottom - 2) return;
  svg.text(axes.x(start) + 6, label, name, "tick halo");
  last_label = label;
}

void draw_ceiling(Svg& svg, const Axes& axes, const Roofline::Ceiling& ceiling, double bandwidth, double& last_label) {
  if (!(ceiling.rate > 0)) return;
  const double start = bandwidth > 0 ? std::max(axes.intensity.low, ceiling.rate / bandwidth) : axes.intensity.low;
  const double y = axes.y(ceiling.rate);
  svg.line(axes.x(std::min(start, axes.intensity.high)), y, axes.area.right, y, "roof");
  const double label = std::max(y - 5, last_label + 13);
  svg.text(axes.area.right - 2, label, fmt::format("{} {}", ceiling.name, quantity_text(ceiling.rate, "op/s")),
           "tick halo", Svg::Anchor::kEnd);
  last_label = label;
}

void draw_points(Svg& svg, const Axes& axes, std::vector<Roofline::Point> points) {
  std::erase_if(points, [](const Roofline::Point& point) { return !shows(point); });
  // Small dots over large ones, so that none is hidden.
  std::ranges::sort(points, std::ranges::greater(), &Roofline::Point::time);
  const double longest = points.empty() ? 1 : std::max(points.front().time.count(), 1.0);
  for (const Roofline::Point& point : points) {
    const double radius = std::max(kLargestDot * std::sqrt(point.time.count() / longest), kSmallestDot);
    svg.circle(axes.x(point.intensity), axes.y(point.rate), radius, fmt::format("dot {}", stage_style(point.stage)),
               fmt::format("{}: {}, {}, {}", point.name, duration_text(point.time), quantity_text(point.rate, "op/s"),
                           quantity_text(point.intensity, "op/byte")));
  }
}

}  // namespace

std::string draw(const Roofline& chart, int width) {
  const PlotArea area{
      .left = 48, .top = 24, .right = static_cast<double>(width) - 12, .bottom = width < 500 ? 300.0 : 360.0};
  const Axes axes = axes_of(chart, area);
  Svg svg(width, static_cast<int>(area.bottom) + 42, chart.title,
          fmt::format("{} launches under {} compute and {} memory ceilings", std::ranges::count_if(chart.points, shows),
                      chart.compute.size(), chart.memory.size()));
  draw_axes(svg, axes);
  auto slopes = chart.memory;
  auto ceilings = chart.compute;
  std::ranges::sort(slopes, std::ranges::greater(), &Roofline::Ceiling::rate);
  std::ranges::sort(ceilings, std::ranges::greater(), &Roofline::Ceiling::rate);
  draw_points(svg, axes, chart.points);
  double last_label = 0;
  for (const Roofline::Ceiling& slope : slopes) draw_slope(svg, axes, slope, fastest(ceilings), last_label);
  last_label = 0;
  for (const Roofline::Ceiling& ceiling : ceilings) draw_ceiling(svg, axes, ceiling, fastest(slopes), last_label);
  svg.text(area.left, area.bottom + 34, "a dot's area is its time", "label");
  return svg.str();
}

}  // namespace saccade
