#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics/latency_shape.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// Charts are pure functions from data to the text of one <svg> element, WIDTH CSS pixels wide at the text's natural
/// size, and as high as their contents need. Their colours come from the page's style (page.hpp). A page draws each
/// chart twice, for wide and for narrow screens, so that text never shrinks.
inline constexpr int kWideChart = 760;
inline constexpr int kNarrowChart = 350;

/// A labelled vertical line at a value: a percentile, a deadline.
struct Mark {
  std::string name;
  Nanoseconds at{};
};

/// A latency distribution: bars, the estimated density as a curve, and marks.
struct LatencyHistogram {
  std::string title;
  LatencyShape shape;
  std::vector<Mark> marks;
};
std::string draw(const LatencyHistogram& chart, int width);

/// Mean times over some consecutive frames.
struct TimelineColumn {
  double seconds = 0;              ///< since the start, of the first frame
  std::vector<Nanoseconds> times;  ///< by stage
};
/// Stacked stages of a frame over the time of the run: shows drift, stalls and warm-up.
struct StageTimeline {
  std::string title;
  std::vector<std::string> stages;
  std::vector<TimelineColumn> columns;
};
std::string draw(const StageTimeline& chart, int width);

/// An activity on one thread, or a wait in one queue.
struct GanttSpan {
  Nanoseconds start{};
  Nanoseconds end{};
  std::string name;   ///< drawn into the span if it fits
  std::string stage;  ///< selects the colour; neutral for unknown names
};
struct GanttLane {
  std::string name;
  std::vector<GanttSpan> spans;  ///< disjoint, in order
};
/// Lanes over a common time axis: overlap and dependencies.
struct Gantt {
  std::string title;
  std::vector<GanttLane> lanes;
};
std::string draw(const Gantt& chart, int width);

/// The measured time of an item, and its bound.
struct BoundBar {
  std::string label;
  std::string note;  ///< in a second tone after the label
  Nanoseconds measured{};
  Nanoseconds bound{};  ///< 0: unknown
};
/// Horizontal bars, the bound as the dark part of each: the light part is headroom.
struct BoundBars {
  std::string title;
  std::vector<BoundBar> bars;
};
std::string draw(const BoundBars& chart, int width);

/// Shares between 0 and 1, for example accuracy by class.
struct ShareBar {
  std::string label;
  std::string note;
  double share = 0;
};
struct ShareBars {
  std::string title;
  std::vector<ShareBar> bars;
};
std::string draw(const ShareBars& chart, int width);

/// The roofline of Williams, Waterman and Patterson (2009): attainable operations per second are the minimum of a
/// compute ceiling and bandwidth times arithmetic intensity. Both axes are logarithmic.
struct Roofline {
  struct Ceiling {
    std::string name;
    double rate = 0;  ///< operations per second, or bytes per second
  };
  struct Point {
    std::string name;
    double intensity = 0;  ///< operations per byte of required traffic
    double rate = 0;       ///< operations per second, as measured
    Nanoseconds time{};    ///< determines the dot's area
    std::string stage;
  };
  std::string title;
  std::vector<Ceiling> compute;  ///< operations per second
  std::vector<Ceiling> memory;   ///< bytes per second
  std::vector<Point> points;     ///< those without operations or bytes are skipped
};
std::string draw(const Roofline& chart, int width);

/// The CSS class of a stage's colour ("capture", "queue", "pre", "model", "post") in every chart.
std::string_view stage_style(std::string_view stage);

}  // namespace saccade
