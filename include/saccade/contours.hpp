#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// A pixel of a mask's contour.
struct ContourPoint {
  std::int32_t x = 0;  ///< column
  std::int32_t y = 0;  ///< row
};

/// Finds the outer contours of masks, identical to OpenCV's findContours with RETR_EXTERNAL and CHAIN_APPROX_SIMPLE.
/// Each 8-connected component has one contour. Holes, and components inside of holes, have none. Points are pixels of
/// the mask, not corners between pixels. Points inside horizontal, vertical and diagonal segments are omitted. Reuses
/// its memory between calls. One thread at a time.
class ContourTracer {
 public:
  /// The points of a contour, valid as long as trace() says.
  using Contour = std::span<const ContourPoint>;

  /// The contours of MASK in row-major order of their first points. The first point is the topmost, then leftmost
  /// pixel; the contour continues downwards (counter-clockwise on the screen). Valid until the next call. Memory is
  /// proportional to the mask's bounding box.
  std::span<const Contour> trace(const Mask& mask);

 private:
  void paint(const Mask& mask);
  void follow(std::ptrdiff_t start);
  void keep(std::ptrdiff_t pixel);

  std::int32_t left_ = 0;  ///< of the bounding box, in the frame
  std::int32_t top_ = 0;
  std::ptrdiff_t pitch_ = 0;  ///< of pixels_: the bounding box plus an empty border
  std::ptrdiff_t rows_ = 0;
  std::vector<std::int8_t> pixels_;
  std::vector<ContourPoint> points_;
  std::vector<std::size_t> ends_;  ///< of each contour in points_
  std::vector<Contour> contours_;
};

}  // namespace saccade
