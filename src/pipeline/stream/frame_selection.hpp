#pragma once

#include <algorithm>
#include <cstdint>

namespace saccade {

/// The rate of the frames that are processed of a source with RATE frames per second: every EVERYth, MOST per second at
/// most. 0: unknown, or no limit.
inline double selected_rate(double rate, std::int64_t every, double most) {
  const double selected = rate / static_cast<double>(every);
  return most > 0 ? std::min(selected, most) : selected;
}

/// Which frames of a source are processed, by number and by rate.
struct FrameSelection {
  std::int64_t every = 1;  ///< every Nth frame, the first one first
  double max_rate = 0;     ///< of them, at most so many per second of the source; 0: all
  double source_rate = 0;  ///< frames per second; 0: unknown
};

/// Selects frames. Those that are nearest to a regular grid are taken, so that jitter of the timestamps does not change
/// the rate. One thread.
class FrameSelector {
 public:
  explicit FrameSelector(const FrameSelection& selection)
      : every_(selection.every), period_(selection.max_rate > 0 ? 1e9 / selection.max_rate : 0) {
    if (selection.source_rate > 0) between_ = 1e9 * static_cast<double>(every_) / selection.source_rate;
    is_known_ = between_ > 0;
  }

  /// Whether the next frame, shown at TIMESTAMP_NS, is processed.
  bool takes(std::int64_t timestamp_ns) noexcept {
    if (count_++ % every_ != 0) return false;
    if (period_ == 0) return true;
    const auto time = static_cast<double>(timestamp_ns);
    // A jump back begins a new grid.
    const bool begins = !has_begun_ || time < last_;
    if (begins) next_ = time;
    if (!begins && !is_known_) between_ = time - last_;
    has_begun_ = true;
    last_ = time;
    if (time + std::min(period_, between_) / 2 < next_) return false;
    // After a gap the grid begins at this frame: frames that are missing are not made up for.
    next_ = time < next_ + period_ ? next_ + period_ : time + period_;
    return true;
  }

 private:
  std::int64_t every_;
  double period_;       ///< nanoseconds; 0: any
  double between_ = 0;  ///< two frames that could be taken, in nanoseconds: of the source's rate, else the last
  bool is_known_ = false;
  std::int64_t count_ = 0;
  bool has_begun_ = false;
  double last_ = 0;
  double next_ = 0;
};

}  // namespace saccade
