#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "measure/report/chart_axes.hpp"
#include "measure/report/charts.hpp"

namespace saccade {
namespace {

constexpr double kLargestDot = 13;
constexpr double kSmallestDot = 2.5;
// Space beside the plot for the ceilings' names, if the page is wide enough.
constexpr double kGutter = 190;
constexpr double kLabelHeight = 13;
// Launches slower than the peak by more than this factor are drawn at the lower edge; they would compress the others.
constexpr double kTallest = 1e5;
constexpr double kLeastIntensity = 0.01;

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

/// Whole decades that contain the points and the ridges of the roofline.
Axes axes_of(const Roofline& chart, const PlotArea& area) {
  Range intensity;
  Range rate;
  const double peak = fastest(chart.compute);
  for (const Roofline::Point& point : chart.points) {
    if (!shows(point)) continue;
    intensity.add(std::max(point.intensity, kLeastIntensity));
    rate.add(std::max(point.rate, peak / kTallest));
  }
  for (const Roofline::Ceiling& ceiling : chart.compute) rate.add(ceiling.rate);
  for (const Roofline::Ceiling& slope : chart.memory)
    if (slope.rate > 0) intensity.add(std::max(peak / slope.rate, kLeastIntensity));
  if (intensity.high == 0) intensity = {0.1, 100};
  if (rate.high == 0) rate = {1e9, 1e12};
  const auto decade = [](double value, double (*whole)(double), double away) {
    return std::pow(10, whole(std::log10(value) + away));
  };
  intensity = {decade(intensity.low, std::floor, -0.05), decade(intensity.high, std::ceil, 0.05)};
  rate = {decade(rate.low, std::floor, -0.05), rate.high * 2};
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
  svg.text(area.right, area.bottom + 34, axes.area.width() < 300 ? "operations per byte" : "operations per byte moved",
           "label", Svg::Anchor::kEnd);
  svg.text(0, 12, "operations per second", "label");
}

/// A bandwidth's slope from the left edge, or the bottom, up to the highest ceiling, labelled if the slope above leaves
/// space.
/// above leaves room.
void draw_slope(Svg& svg, const Axes& axes, const Roofline::Ceiling& slope, double peak, double& above) {
  if (!(slope.rate > 0)) return;
  const double start = std::max(axes.intensity.low, axes.rate.low / slope.rate);
  const double end = std::min(axes.intensity.high, (peak > 0 ? peak : axes.rate.high) / slope.rate);
  if (end <= start) return;
  const Svg::Point from{axes.x(start), axes.y(start * slope.rate)};
  const Svg::Point to{axes.x(end), axes.y(end * slope.rate)};
  svg.line(from.x, from.y, to.x, to.y, "roof");
  const double rise = (from.y - to.y) / (to.x - from.x);
  // The perpendicular distance to the slope above; all slopes are parallel.
  const double height = from.y + rise * (from.x - axes.area.left);
  const double room = (height - above) / std::sqrt(1 + rise * rise);
  above = height;
  if (room < kLabelHeight + 2) return;
  svg.slanted_text(from.x + 8, from.y - rise * 8 - 5, std::atan(rise) * 180 / std::numbers::pi,
                   fmt::format("{} {}", slope.name, quantity_text(slope.rate, "B/s")), "tick halo");
}

/// A ceiling from its ridge with the fastest memory to the right edge; its name in the gutter, if there is one.
void draw_ceiling(Svg& svg, const Axes& axes, const Roofline::Ceiling& ceiling, double bandwidth, bool has_gutter,
                  double& last_label) {
  if (!(ceiling.rate > 0)) return;
  const double start = bandwidth > 0 ? std::max(axes.intensity.low, ceiling.rate / bandwidth) : axes.intensity.low;
  const double y = axes.y(ceiling.rate);
  const double right = axes.area.right;
  svg.line(axes.x(std::min(start, axes.intensity.high)), y, right, y, "roof");
  const std::string name = fmt::format("{} {}", ceiling.name, quantity_text(ceiling.rate, "OP/s"));
  if (has_gutter) {
    last_label = std::max(y + 4, last_label + kLabelHeight);
    svg.line(right, y, right + 10, last_label - 4, "grid");
    svg.text(right + 13, last_label, fit_text(name, kGutter - 13, 11), "tick");
  } else if (y - 4 >= last_label + kLabelHeight) {
    last_label = y - 4;
    svg.text(right - 2, last_label, name, "tick halo", Svg::Anchor::kEnd);
  }
}

void draw_points(Svg& svg, const Axes& axes, std::vector<Roofline::Point> points) {
  std::erase_if(points, [](const Roofline::Point& point) { return !shows(point); });
  // Small dots over large ones, so that none is hidden.
  std::ranges::sort(points, std::ranges::greater(), &Roofline::Point::time);
  const double longest = points.empty() ? 1 : std::max(points.front().time.count(), 1.0);
  for (const Roofline::Point& point : points) {
    const double radius = std::max(kLargestDot * std::sqrt(point.time.count() / longest), kSmallestDot);
    svg.circle(axes.x(std::max(point.intensity, axes.intensity.low)), axes.y(std::max(point.rate, axes.rate.low)),
               radius, fmt::format("dot {}", stage_style(point.stage)),
               fmt::format("{}: {}, {}, {}", point.name, duration_text(point.time), quantity_text(point.rate, "OP/s"),
                           quantity_text(point.intensity, "OP/byte")));
  }
}

}  // namespace

std::string draw(const Roofline& chart, int width) {
  const bool has_gutter = width >= 500 && !chart.compute.empty();
  const PlotArea area{.left = 48,
                      .top = 24,
                      .right = static_cast<double>(width) - (has_gutter ? kGutter : 12),
                      .bottom = has_gutter ? 360.0 : 300.0};
  const Axes axes = axes_of(chart, area);
  Svg svg(width, static_cast<int>(area.bottom) + 42, chart.title,
          fmt::format("{} launches under {} compute and {} memory ceilings", std::ranges::count_if(chart.points, shows),
                      chart.compute.size(), chart.memory.size()));
  draw_axes(svg, axes);
  auto slopes = chart.memory;
  auto ceilings = chart.compute;
  std::ranges::sort(slopes, std::ranges::greater(), &Roofline::Ceiling::rate);
  std::ranges::sort(ceilings, std::ranges::greater(), &Roofline::Ceiling::rate);
  double above = -1e9;
  for (const Roofline::Ceiling& slope : slopes) draw_slope(svg, axes, slope, fastest(ceilings), above);
  double last_label = 0;
  for (const Roofline::Ceiling& ceiling : ceilings)
    draw_ceiling(svg, axes, ceiling, fastest(slopes), has_gutter, last_label);
  draw_points(svg, axes, chart.points);
  svg.text(area.left, area.bottom + 34, width < 500 ? "dot area: time" : "a dot's area is its time", "label");
  return svg.str();
}

}  // namespace saccade
