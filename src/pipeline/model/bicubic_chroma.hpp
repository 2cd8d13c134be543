#pragma once

#include <cstdint>
#include <vector>

#include "ops/vision/pixel_filter.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// Chroma of an image, interpolated as Pillow's BICUBIC does (Keys, 1981, with a = -0.5) for a larger one of which
/// only the luma is known. Reuses its memory.
class BicubicChroma {
 public:
  /// Takes the chroma (BT.601, full range) of SOURCE for an image of WIDTH x HEIGHT pixels.
  void begin(const RgbView& source, int width, int height);
  /// Colours the grey pixels of the image's row Y, kRgb24: their value is the luma.
  void color_row(int y, std::uint8_t* row);

 private:
  /// The weights of an axis, kept while its sizes are.
  struct Axis {
    FilterTable table;
    void set(int count, int samples);

   private:
    int samples_ = 0;
  };
  /// R - Y and B - Y of a pixel.
  struct Chroma {
    float red = 0;
    float blue = 0;
    void add(float weight, const Chroma& other) {
      red += weight * other.red;
      blue += weight * other.blue;
    }
  };

  Axis across_;
  Axis down_;
  std::vector<Chroma> source_;
  std::vector<Chroma> row_;  ///< between the source's rows
};

}  // namespace saccade
