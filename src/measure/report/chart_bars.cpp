#include <fmt/format.h>

#include <algorithm>

#include "measure/report/chart_axes.hpp"
#include "measure/report/charts.hpp"

namespace saccade {
namespace {

constexpr double kRow = 40;
constexpr double kBarTop = 20;
constexpr double kBarHeight = 11;

/// One row of a bar chart: label and note at the left, value at the right, above the bar.
struct Row {
  std::string_view label;
  std::string_view note;
  std::string value;
};

void draw_row(Svg& svg, double top, double width, const Row& row) {
  const double space = width - text_width(row.value) - 12;
  const std::string label = fit_text(row.label, space);
  svg.text(0, top + 14, label);
  const double rest = space - text_width(label) - 10;
  if (!row.note.empty() && rest > 40) svg.text(text_width(label) + 10, top + 14, fit_text(row.note, rest, 11), "tick");
  svg.text(width, top + 14, row.value, "value", Svg::Anchor::kEnd);
  svg.rect(0, top + kBarTop, width, kBarHeight, "track");
}

std::string value_of(const BoundBar& bar, int width) {
  std::string measured = duration_text(bar.measured);
  if (bar.bound.count() <= 0 || bar.measured.count() <= 0) return measured;
  const std::string share = percent_text(bar.bound / bar.measured);
  if (width < 500) return fmt::format("{} · {} of bound", measured, share);
  return fmt::format("{} · bound {} · {} of bound", measured, duration_text(bar.bound), share);
}

}  // namespace

std::string draw(const BoundBars& chart, int width) {
  Nanoseconds longest{1};
  for (const BoundBar& bar : chart.bars) longest = std::max({longest, bar.measured, bar.bound});
  const std::vector<LegendEntry> legend = {{"bound", "bound"}, {"bar", "headroom"}};
  const double top = legend_height(width, legend) + 4;
  Svg svg(width, static_cast<int>(top + kRow * static_cast<double>(chart.bars.size())), chart.title,
          fmt::format("{} bars, the longest {}", chart.bars.size(), duration_text(longest)));
  draw_legend(svg, 0, 0, width, legend);
  const Scale x = Scale::linear(0, longest.count(), 0, width);
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const BoundBar& bar = chart.bars[i];
    const double y = top + kRow * static_cast<double>(i);
    draw_row(svg, y, width, {bar.label, bar.note, value_of(bar, width)});
    svg.rect(0, y + kBarTop, x(bar.measured.count()), kBarHeight, "bar", "measured " + duration_text(bar.measured));
    if (bar.bound.count() > 0)
      svg.rect(0, y + kBarTop, x(bar.bound.count()), kBarHeight, "bound", "bound " + duration_text(bar.bound));
  }
  return svg.str();
}

std::string draw(const ShareBars& chart, int width) {
  Svg svg(width, static_cast<int>(4 + kRow * static_cast<double>(chart.bars.size())), chart.title,
          fmt::format("{} shares", chart.bars.size()));
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const ShareBar& bar = chart.bars[i];
    const double y = kRow * static_cast<double>(i);
    const std::string value = fmt::format("{:.1f} %", 100 * bar.share);
    draw_row(svg, y, width, {bar.label, bar.note, value});
    svg.rect(0, y + kBarTop, width * std::clamp(bar.share, 0.0, 1.0), kBarHeight, "bound", value);
  }
  return svg.str();
}

}  // namespace saccade
