#pragma once

#include <string_view>

#include "measure/report/svg.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// The data area of a chart.
struct PlotArea {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// A labelled time axis below AREA, with its unit at the right end. UNIT divides nanoseconds.
void draw_time_axis(Svg& svg, const PlotArea& area, const Scale& x, Nanoseconds from, Nanoseconds to,
                    const TimeUnit& unit, std::string_view what);
/// Grid lines across AREA with labels at the left, for a linear axis from 0 to TO that is divided by DIVISOR for
/// display.
void draw_value_grid(Svg& svg, const PlotArea& area, const Scale& y, double to, double divisor);

/// A row of coloured squares with names, wrapped at WIDTH; returns its height.
struct LegendEntry {
  std::string_view style;
  std::string_view name;
};
double draw_legend(Svg& svg, double x, double y, double width, const std::vector<LegendEntry>& entries);
/// The height of draw_legend().
double legend_height(double width, const std::vector<LegendEntry>& entries);

}  // namespace saccade
