#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Parameters of DB's post-processing.
struct TextBoxOptions {
  float map_threshold = 0.3F;  ///< cells above it are text
  float confidence = 0.6F;     ///< the least mean probability inside a box
  float unclip_ratio = 1.5F;   ///< a box grows by area * unclip_ratio / perimeter on each side
};

/// A box of text on a map; the cell (0, 0) spans 0..1 along each axis.
struct TextBox {
  OrientedBox box;       ///< in cells, of any of the four angles
  float confidence = 0;  ///< mean probability inside the box before it is enlarged
};

/// Finds the boxes of text on a map of probabilities, as DB's published post-processing does: the components of cells
/// above a threshold (diagonal neighbours are connected), the rectangle of least area around each, its mean
/// probability, and its enlargement. Sides below 3 cells, or below 5 when enlarged, are dropped. Allocates for the
/// first maps only. One thread at a time.
class TextBoxFinder {
 public:
  /// MAP is rows of COLUMNS cells. The boxes, in descending order of confidence, are valid until the next call.
  std::span<const TextBox> find(std::span<const float> map, int columns, const TextBoxOptions& options);
  /// Of the cells of the last map: a NaN, or a probability beyond 0..1. NaNs are not text.
  Faults faults() const { return faults_; }

 private:
  struct Run {
    int y, x1, x2;          ///< cells x1 (inclusive) to x2 (exclusive)
    std::size_t component;  ///< index of its component's first run, once the runs are joined
  };
  struct Point {
    int x, y;
  };

  void collect_runs(std::span<const float> map, int columns, float threshold);
  void join_rows(std::size_t above, std::size_t row, std::size_t end);
  std::size_t root_of(std::size_t run);
  void trace_hull(std::span<const Run> component);
  OrientedBox least_rectangle() const;
  void add_box(std::span<const float> map, int columns, const TextBoxOptions& options);

  std::vector<Run> runs_;
  std::vector<Point> hull_;
  std::vector<TextBox> boxes_;
  Faults faults_;
};

/// BOX with its width along the line: within 45 degrees of the x axis, or downwards if it is at least 1.5 times as high
/// as wide, as PaddleOCR turns its crops.
OrientedBox along_text(OrientedBox box);

}  // namespace saccade
