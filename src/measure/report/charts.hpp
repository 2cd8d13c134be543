#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics/latency_shape.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// Charts are pure functions from data to the text of one <svg> element, WIDTH CSS pixels wide at text's natural size,
/// as high as their contents need. Their colours come from the page's style (page.hpp). A page draws each chart twice,
/// for wide and for narrow screens, so that text never shrinks.
inline constexpr int kWideChart = 760;
inline constexpr int kNarrowChart = 350;

/// A vertical line at a value, with its name: a percentile, a deadline.
struct Mark {
  std::string name;
  Nanoseconds at{};
};

/// How often which duration was measured: bars, the estimated density as a curve over them, and marks.
struct LatencyHistogram {
  std::string title;
  LatencyShape shape;
  std::vector<Mark> marks;
};
std::string draw(const LatencyHistogram& chart, int width);

/// Mean times of one run of consecutive frames.
struct TimelineColumn {
  double seconds = 0;              ///< since the start, of the first frame
  std::vector<Nanoseconds> times;  ///< by stage
};
/// Stages of a frame stacked, over the time of the run: drifts, stalls and warm-up show.
struct StageTimeline {
  std::string title;
  std::vector<std::string> stages;
  std::vector<TimelineColumn> columns;
};
std::string draw(const StageTimeline& chart, int width);

/// What ran when on one thread, or waited in one queue.
struct GanttSpan {
  Nanoseconds start{};
  Nanoseconds end{};
  std::string name;   ///< written into the span where there is room
  std::string stage;  ///< chooses the colour; a name that is no stage gets a neutral one
};
struct GanttLane {
  std::string name;
  std::vector<GanttSpan> spans;  ///< disjoint, in order
};
/// Lanes over one time axis: what overlaps, and what waits for what.
struct Gantt {
  std::string title;
  std::vector<GanttLane> lanes;
};
std::string draw(const Gantt& chart, int width);

/// One thing's measured time, and the least that this machine could need for it.
struct BoundBar {
  std::string label;
  std::string note;  ///< in a second tone behind the label
  Nanoseconds measured{};
  Nanoseconds bound{};  ///< 0: none known
};
/// Horizontal bars, the bound as the dark part of each: what is light is headroom.
struct BoundBars {
  std::string title;
  std::vector<BoundBar> bars;
};
std::string draw(const BoundBars& chart, int width);

/// Shares between 0 and 1: accuracy by class, say.
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

/// The roofline of Williams, Waterman and Patterson (2009): attainable operations per second are the least of a compute
/// ceiling and bandwidth times arithmetic intensity. Both axes are logarithmic.
struct Roofline {
  struct Ceiling {
    std::string name;
    double rate = 0;  ///< operations per second, or bytes per second
  };
  struct Point {
    std::string name;
    double intensity = 0;  ///< operations a byte that must move
    double rate = 0;       ///< operations per second, as measured
    Nanoseconds time{};    ///< sizes the dot by area
    std::string stage;
  };
  std::string title;
  std::vector<Ceiling> compute;  ///< operations per second
  std::vector<Ceiling> memory;   ///< bytes per second
  std::vector<Point> points;     ///< those without operations or bytes are left out
};
std::string draw(const Roofline& chart, int width);

/// The class that colours a stage ("capture", "queue", "pre", "model", "post") alike in every chart.
std::string_view stage_style(std::string_view stage);

}  // namespace saccade
