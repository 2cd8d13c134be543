#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/frame.hpp"

namespace saccade {

/// Chroma of an image, interpolated bicubically (Keys, 1981, with a = -0.5, as in Pillow) for a larger one of which
/// only the luma is known. Reuses its memory.
class BicubicChroma {
 public:
  /// Takes the chroma (BT.601, full range) of SOURCE for an image of WIDTH x HEIGHT pixels.
  void begin(const RgbView& source, int width, int height);
  /// Colours the grey pixels of the image's row Y, kRgb24: their value is the luma.
  void color_row(int y, std::uint8_t* row);

 private:
  /// Four neighbouring samples and their weights.
  struct CubicTap {
    std::array<int, 4> at{};
    std::array<float, 4> weight{};
  };
  /// R - Y and B - Y of a pixel.
  struct Chroma {
    float red = 0;
    float blue = 0;
  };
  static CubicTap tap_of(int position, int count, int samples);

  int width_ = 0;  ///< of the image
  int height_ = 0;
  int columns_ = 0;  ///< of the source
  int rows_ = 0;
  std::vector<Chroma> source_;
  std::vector<Chroma> row_;           ///< between the source's rows
  std::vector<CubicTap> columns_of_;  ///< by the image's column
};

}  // namespace saccade
