#include "measure/report/chart_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace saccade {
namespace {

constexpr double kLegendRow = 20;
constexpr double kSquare = 11;

/// Calls PLACE with each entry's position in the legend; returns the legend's height.
double lay_out_legend(double width, const std::vector<LegendEntry>& entries,
                      const std::function<void(const LegendEntry&, double x, double y)>& place) {
  double x = 0;
  double y = 0;
  for (const LegendEntry& entry : entries) {
    const double needed = kSquare + 6 + text_width(entry.name) + 16;
    if (x > 0 && x + needed - 16 > width) {
      x = 0;
      y += kLegendRow;
    }
    place(entry, x, y);
    x += needed;
  }
  return entries.empty() ? 0 : y + kLegendRow;
}

}  // namespace

void draw_time_axis(Svg& svg, const PlotArea& area, const Scale& x, Nanoseconds from, Nanoseconds to,
                    const TimeUnit& unit, std::string_view what) {
  svg.line(area.left, area.bottom, area.right, area.bottom, "axis");
  const int count = std::max(static_cast<int>(area.width() / 60), 2);
  for (double tick : ticks(from.count() / unit.nanoseconds, to.count() / unit.nanoseconds, count)) {
    const double at = x(tick * unit.nanoseconds);
    svg.line(at, area.bottom, at, area.bottom + 4, "axis");
    svg.text(at, area.bottom + 17, number_text(tick, 4), "tick", Svg::Anchor::kMiddle);
  }
  svg.text(area.right, area.bottom + 34, fmt::format("{} ({})", what, unit.name), "label", Svg::Anchor::kEnd);
}

void draw_value_grid(Svg& svg, const PlotArea& area, const Scale& y, double to, double divisor) {
  const int count = std::max(static_cast<int>(area.height() / 40), 2);
  for (double tick : ticks(0, to / divisor, count)) {
    const double at = y(tick * divisor);
    if (tick != 0) svg.line(area.left, at, area.right, at, "grid");
    svg.text(area.left - 6, at + 4, number_text(tick, 4), "tick", Svg::Anchor::kEnd);
  }
}

double draw_legend(Svg& svg, double x, double y, double width, const std::vector<LegendEntry>& entries) {
  return lay_out_legend(width, entries, [&](const LegendEntry& entry, double dx, double dy) {
    svg.rect(x + dx, y + dy + 4, kSquare, kSquare, entry.style);
    svg.text(x + dx + kSquare + 6, y + dy + 14, entry.name);
  });
}

double legend_height(double width, const std::vector<LegendEntry>& entries) {
  return lay_out_legend(width, entries, [](const LegendEntry&, double, double) {});
}

}  // namespace saccade
