#pragma once

#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Pixels x1, y1 up to, but not with, x2, y2.
struct PixelExtent {
  int x1 = 0;
  int y1 = 0;
  int x2 = 0;
  int y2 = 0;
  bool empty() const { return x2 <= x1 || y2 <= y1; }
};

/// Looks at a grid bilinearly from a frame's pixels and finds those where it exceeds a threshold. The order of the fp32
/// operations is part of the definition, so that devices can agree to the bit:
///
///   p  = (x + 0.5) * scale_x + offset_x - 0.5      double, GridPlace's
///   i  = floor(p), f = float(p - i)                i < 0: i = f = 0; i >= columns - 1: i = columns - 1, f = 0
///   h  = g[i] * (1 - f) + g[i + 1] * f             along a row, in two rounded products and a rounded sum
///   v  = h(upper) * (1 - f) + h(lower) * f         the same down
///
/// which is what OpenCV's resize does for INTER_LINEAR on floats. NaN exceeds nothing; where one or infinity is looked
/// at, the mask has holes that say nothing (-infinity is outside, as it should be). Keeps its scratch; used by one
/// thread at a time.
class MaskTracer {
 public:
  /// Appends the pixels of WITHIN that exceed THRESHOLD to RUNS; returns their number. GRID is place.rows x
  /// place.columns.
  std::int64_t trace(const GridPlace& place, std::span<const float> grid, const PixelExtent& within, float threshold,
                     std::vector<MaskRun>& runs);
  /// Whether the last trace() looked at a cell that is NaN or infinity.
  bool met_fault() const { return met_fault_; }

 private:
  struct Tap {
    int first = 0;
    int second = 0;
    float share = 0;  ///< of the second
  };
  static Tap tap(double position, int cells);
  /// A row of the grid, looked at from every column of the extent.
  std::span<const float> row(std::span<const float> grid, int columns, int index);

  std::vector<Tap> across_;
  std::vector<float> rows_[2];
  int held_[2] = {-1, -1};  ///< which rows of the grid they are
  std::vector<std::uint8_t> inside_;
  bool met_fault_ = false;
};

}  // namespace saccade
