#include <fmt/format.h>

#include <algorithm>

#include "measure/report/chart_axes.hpp"
#include "measure/report/charts.hpp"

namespace saccade {
namespace {

constexpr double kTimelineHeight = 190;
constexpr double kLane = 26;
constexpr double kLaneGap = 22;

Nanoseconds sum(const std::vector<Nanoseconds>& times) {
  Nanoseconds total{};
  for (Nanoseconds time : times) total += time;
  return total;
}

std::string column_tooltip(const StageTimeline& chart, const TimelineColumn& column) {
  std::string text = fmt::format("at {} s:", number_text(column.seconds));
  for (std::size_t i = 0; i < column.times.size(); ++i)
    text += fmt::format(" {} {}", chart.stages[i], duration_text(column.times[i]));
  return text;
}

void draw_column(Svg& svg, const StageTimeline& chart, const TimelineColumn& column, double left, double width,
                 const Scale& y) {
  Nanoseconds below{};
  const std::string tooltip = column_tooltip(chart, column);
  for (std::size_t i = 0; i < column.times.size(); ++i) {
    const double base = y(below.count());
    below += column.times[i];
    svg.rect(left, y(below.count()), width, base - y(below.count()), stage_style(chart.stages[i]), tooltip);
  }
}

}  // namespace

std::string_view stage_style(std::string_view stage) {
  if (stage == "capture") return "s-capture";
  if (stage == "queue") return "s-queue";
  if (stage == "pre") return "s-pre";
  if (stage == "model") return "s-model";
  if (stage == "post") return "s-post";
  return "s-other";
}

std::string draw(const StageTimeline& chart, int width) {
  std::vector<LegendEntry> legend;
  for (const std::string& stage : chart.stages) legend.push_back({stage_style(stage), stage});
  PlotArea area{.left = 48, .right = static_cast<double>(width) - 12};
  area.top = legend_height(area.width(), legend) + 10;
  area.bottom = area.top + kTimelineHeight;
  Nanoseconds highest{1};
  for (const TimelineColumn& column : chart.columns) highest = std::max(highest, sum(column.times));
  const TimeUnit unit = time_unit(highest);
  const Scale y = Scale::linear(0, highest.count() * 1.04, area.bottom, area.top);

  Svg svg(width, static_cast<int>(area.bottom) + 42, chart.title,
          fmt::format("{} columns over time; the highest stack is {}", chart.columns.size(), duration_text(highest)));
  draw_legend(svg, area.left, 0, area.width(), legend);
  draw_value_grid(svg, area, y, highest.count(), unit.nanoseconds);
  const double pitch = area.width() / static_cast<double>(std::max<std::size_t>(chart.columns.size(), 1));
  for (std::size_t i = 0; i < chart.columns.size(); ++i)
    draw_column(svg, chart, chart.columns[i], area.left + static_cast<double>(i) * pitch,
                pitch > 3 ? pitch - 1 : pitch + 0.1, y);
  const double last = chart.columns.empty() ? 1 : chart.columns.back().seconds;
  const double first = chart.columns.empty() ? 0 : chart.columns.front().seconds;
  const double step = chart.columns.size() > 1 ? (last - first) / static_cast<double>(chart.columns.size() - 1) : 1;
  const Nanoseconds from(1e9 * first);
  const Nanoseconds to(1e9 * (last + step));
  const Scale x = Scale::linear(from.count(), to.count(), area.left, area.right);
  draw_time_axis(svg, area, x, from, to, time_unit(to), "run");
  svg.text(area.left, area.bottom + 34, fmt::format("{} per frame", unit.name), "label");
  return svg.str();
}

std::string draw(const Gantt& chart, int width) {
  Nanoseconds from = Nanoseconds::max();
  Nanoseconds to = Nanoseconds::min();
  std::vector<LegendEntry> legend;
  for (const GanttLane& lane : chart.lanes)
    for (const GanttSpan& span : lane.spans) {
      from = std::min(from, span.start);
      to = std::max(to, span.end);
      const LegendEntry entry{stage_style(span.stage), span.stage};
      if (std::ranges::find(legend, entry.name, &LegendEntry::name) == legend.end()) legend.push_back(entry);
    }
  if (!(to > from)) from = Nanoseconds(0), to = Nanoseconds(1);
  PlotArea area{.left = 4, .right = static_cast<double>(width) - 12};
  area.top = legend_height(area.width(), legend) + 4;
  area.bottom = area.top + static_cast<double>(chart.lanes.size()) * (kLane + kLaneGap) + 6;
  Svg svg(width, static_cast<int>(area.bottom) + 42, chart.title,
          fmt::format("{} lanes over {}", chart.lanes.size(), duration_text(to - from)));
  draw_legend(svg, area.left, 0, area.width(), legend);
  const Scale x = Scale::linear(0, (to - from).count(), area.left, area.right);
  double top = area.top;
  for (const GanttLane& lane : chart.lanes) {
    svg.text(area.left, top + 15, lane.name, "label");
    top += kLaneGap;
    svg.line(area.left, top + kLane, area.right, top + kLane, "grid");
    for (const GanttSpan& span : lane.spans) {
      const double left = x((span.start - from).count());
      const double length = x((span.end - from).count()) - left;
      svg.rect(left, top, std::max(length - 0.5, 0.5), kLane, stage_style(span.stage),
               fmt::format("{} {}: {}", span.stage, span.name, duration_text(span.end - span.start)));
      if (text_width(span.name, 11) + 6 < length)
        svg.text(left + length / 2, top + 17, span.name, "inside", Svg::Anchor::kMiddle);
    }
    top += kLane;
  }
  draw_time_axis(svg, area, x, Nanoseconds(0), to - from, time_unit(to - from), "time");
  return svg.str();
}

}  // namespace saccade
