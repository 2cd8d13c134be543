#pragma once

#include <cstdint>
#include <vector>

#include "draw/canvas.hpp"

namespace saccade {

/// A position in pixels; the first pixel covers 0 to 1 along each axis.
struct Point {
  float x = 0;
  float y = 0;
};

/// Antialiased lines and dots, accumulated and then blended onto an image together, so that overlaps of a translucent
/// colour are not darker. Reuses its memory.
class Ink {
 public:
  /// Starts empty, with an image's size.
  void begin(int width, int height);
  /// A line with round ends, clipped to the image. A line with an end that is NaN or a million pixels away is omitted.
  void line(Point from, Point to, float width);
  void dot(Point centre, float radius);
  /// Blends the lines and dots onto IMAGE and clears them. OPACITY is 0 to 255.
  void print(const RgbView& image, Color color, int opacity = 255);

 private:
  struct Span {
    int first = 0;
    int last = 0;  ///< exclusive; 0: an empty row
  };
  std::uint8_t* open_row(int y, int first, int last);

  int width_ = 0;
  int height_ = 0;
  int top_ = 0;  ///< range of rows that are not empty
  int bottom_ = 0;
  std::vector<std::uint8_t> coverage_;
  std::vector<Span> spans_;  ///< of each row
};

}  // namespace saccade
