#pragma once

#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Pixels from x1, y1 (inclusive) to x2, y2 (exclusive).
struct PixelExtent {
  int x1 = 0;
  int y1 = 0;
  int x2 = 0;
  int y2 = 0;
  bool empty() const { return x2 <= x1 || y2 <= y1; }
};

/// The cells of an axis of a grid that are sampled at a position, and the weight of the second one.
struct GridTap {
  int first = 0;
  int second = 0;
  float share = 0;
};
/// At the frame's column X, and at its row Y. Not for grids with a side of 0.
GridTap tap_across(const GridPlace& place, int x);
GridTap tap_down(const GridPlace& place, int y);

/// Samples a grid bilinearly at a frame's pixels and finds those where it exceeds a threshold. The order of the fp32
/// operations is part of the definition, so that devices are bit-identical:
///
///   p  = (x + 0.5) * scale_x + offset_x - 0.5      double, GridPlace's
///   i  = floor(p), f = float(p - i)                i < 0: i = f = 0; i >= columns - 1: i = columns - 1, f = 0
///   h  = g[i] * (1 - f) + g[i + 1] * f             along a row: two rounded products and a rounded sum
///   v  = h(upper) * (1 - f) + h(lower) * f         the same along a column
///
/// as in OpenCV's resize with INTER_LINEAR on floats. NaN exceeds nothing; where a NaN or infinity is sampled, the mask
/// has holes (-infinity is outside, correctly). Keeps its scratch; used by one thread at a time.
class MaskTracer {
 public:
  /// Appends the pixels of WITHIN that exceed THRESHOLD to RUNS; returns their number. GRID is place.rows x
  /// place.columns.
  std::int64_t trace(const GridPlace& place, std::span<const float> grid, const PixelExtent& within, float threshold,
                     std::vector<MaskRun>& runs);
  /// Whether the last trace() sampled a cell that is NaN or infinity.
  bool has_fault() const { return has_fault_; }

 private:
  /// A row of the grid, interpolated at every column of the extent.
  std::span<const float> row(std::span<const float> grid, int columns, int index);

  std::vector<GridTap> across_;
  std::vector<float> rows_[2];
  int held_[2] = {-1, -1};  ///< the cached rows of the grid
  std::vector<std::uint8_t> inside_;
  bool has_fault_ = false;
};

}  // namespace saccade
