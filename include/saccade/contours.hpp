#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// A pixel of a mask's border.
struct ContourPoint {
  std::int32_t x = 0;
  std::int32_t y = 0;
};

/// Follows the outer borders of masks, as OpenCV's findContours does with RETR_EXTERNAL and CHAIN_APPROX_SIMPLE, point
/// by point: one contour for each part of the mask whose pixels touch, by a side or a corner; none for holes, and for
/// what lies in a hole. Points are pixels of the mask, not corners between pixels; those between the ends of a
/// horizontal, vertical or diagonal stretch are left out. Keeps its memory between calls; one thread at a time.
class ContourTracer {
 public:
  using Contour = std::span<const ContourPoint>;

  /// The contours of MASK, by the row and then the column of their first points, the topmost and there the leftmost
  /// pixel; from it on downwards (counter-clockwise as seen). Valid until the next call. Memory goes with the mask's
  /// bounding box.
  std::span<const Contour> trace(const Mask& mask);

 private:
  void paint(const Mask& mask);
  void follow(std::ptrdiff_t start);
  void keep(std::ptrdiff_t pixel);

  std::int32_t left_ = 0;  ///< of the bounding box, in the frame
  std::int32_t top_ = 0;
  std::ptrdiff_t pitch_ = 0;  ///< of pixels_: the box and a border of nothing
  std::ptrdiff_t rows_ = 0;
  std::vector<std::int8_t> pixels_;
  std::vector<ContourPoint> points_;
  std::vector<std::size_t> ends_;  ///< of each contour in points_
  std::vector<Contour> contours_;
};

}  // namespace saccade
