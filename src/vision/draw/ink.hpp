#pragma once

#include <cstdint>
#include <vector>

#include "draw/canvas.hpp"

namespace saccade {

/// A place in an image's pixels, the first pixel being 0 to 1 each way.
struct Point {
  float x = 0;
  float y = 0;
};

/// Smooth lines and dots that are gathered first and laid on an image together, so that where they cross and join, a
/// translucent colour is no thicker. Keeps its memory between images.
class Ink {
 public:
  /// Starts on a dry sheet of an image's size.
  void begin(int width, int height);
  /// A line with round ends. What lies outside is cut off; a line with an end that is no place, or a million pixels
  /// away, is left out.
  void line(Point from, Point to, float width);
  void dot(Point centre, float radius);
  /// Lays what was gathered on PICTURE and forgets it. OPACITY is 0 to 255.
  void print(const RgbView& picture, Color color, int opacity = 255);

 private:
  struct Span {
    int first = 0;
    int last = 0;  ///< not with it; 0: nothing on this row
  };
  std::uint8_t* open_row(int y, int first, int last);

  int width_ = 0;
  int height_ = 0;
  int top_ = 0;  ///< rows with anything on them
  int bottom_ = 0;
  std::vector<std::uint8_t> coverage_;
  std::vector<Span> spans_;  ///< of each row
};

}  // namespace saccade
