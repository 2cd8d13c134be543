#pragma once

#include <string_view>

#include "measure/report/svg.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// The rectangle that a chart's data fills.
struct PlotArea {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// Labelled ticks of a time axis below AREA, its unit at the right end. UNIT divides nanoseconds.
void draw_time_axis(Svg& svg, const PlotArea& area, const Scale& x, Nanoseconds from, Nanoseconds to,
                    const TimeUnit& unit, std::string_view what);
/// Grid lines across AREA with labels left of it, for a linear axis from 0 to TO that is shown divided by DIVISOR.
void draw_value_grid(Svg& svg, const PlotArea& area, const Scale& y, double to, double divisor);

/// One line of coloured squares with names, wrapped at WIDTH; returns the height that it took.
struct LegendEntry {
  std::string_view style;
  std::string_view name;
};
double draw_legend(Svg& svg, double x, double y, double width, const std::vector<LegendEntry>& entries);
/// The height that draw_legend() will take.
double legend_height(double width, const std::vector<LegendEntry>& entries);

}  // namespace saccade
