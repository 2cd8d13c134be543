#pragma once

#include "tensor/frame.hpp"

// Bilinear interpolation of Bayer mosaics, in integers: what to_rgb() and all kernels of saccade.Preprocess compute,
// bit by bit. A missing colour is the rounded mean of its two or four samples among the eight around a pixel. It is
// OpenCV's COLOR_Bayer*2RGB except for the outermost pixels, where OpenCV repeats the pixels further inside.
namespace saccade {

/// The index of the sample that stands for INDEX, at most one beyond COUNT samples: mirrored at the first and last
/// ones, which keeps its colour. A single sample stands for both of its neighbours, although their colour is another.
constexpr int mirrored(int index, int count) {
  if (count == 1) return 0;
  if (index < 0) return -index;
  return index < count ? index : 2 * (count - 1) - index;
}

/// A row of a mosaic between its neighbours. It alternates green and its own colour, red or blue; its neighbours have
/// the other one.
struct MosaicRow {
  const std::uint8_t* above = nullptr;
  const std::uint8_t* row = nullptr;
  const std::uint8_t* below = nullptr;
  int width = 0;
  int own = 0;          ///< the column of the first sample of the own colour: 0 or 1
  bool is_red = false;  ///< the own colour
};

/// One pixel of a MosaicRow.
struct MosaicPixel {
  std::uint8_t own = 0;
  std::uint8_t green = 0;
  std::uint8_t other = 0;
};

inline MosaicPixel demosaiced(const MosaicRow& rows, int x) {
  const auto mean = [](int sum, int shift) { return static_cast<std::uint8_t>((sum + (1 << shift >> 1)) >> shift); };
  const int left = mirrored(x - 1, rows.width);
  const int right = mirrored(x + 1, rows.width);
  const std::uint8_t here = rows.row[x];
  const int beside = rows.row[left] + rows.row[right];
  const int upright = rows.above[x] + rows.below[x];
  if (((x ^ rows.own) & 1) != 0) return {mean(beside, 1), here, mean(upright, 1)};
  const int corners = rows.above[left] + rows.above[right] + rows.below[left] + rows.below[right];
  return {here, mean(beside + upright, 2), mean(corners, 2)};
}

/// The mosaic of a frame.
struct Mosaic {
  const std::uint8_t* data = nullptr;
  int pitch = 0;  ///< bytes per row
  int width = 0;
  int height = 0;
  int red_x = 0;  ///< the first red sample's column: 0 or 1
  int red_y = 0;  ///< and its row

  MosaicRow row(int y) const {
    const auto at = [this](int row) { return data + static_cast<std::ptrdiff_t>(row) * pitch; };
    const int odd = (y ^ red_y) & 1;
    return {at(mirrored(y - 1, height)), at(y), at(mirrored(y + 1, height)), width, red_x ^ odd, odd == 0};
  }
  std::array<int, 3> rgb(int x, int y) const {
    const MosaicRow rows = row(y);
    const MosaicPixel pixel = demosaiced(rows, x);
    if (rows.is_red) return {pixel.own, pixel.green, pixel.other};
    return {pixel.other, pixel.green, pixel.own};
  }
};

/// Of a frame whose format is_mosaic().
inline Mosaic mosaic_of(const FrameView& frame) {
  const bool is_right = frame.format == PixelFormat::kBayerGrbg8 || frame.format == PixelFormat::kBayerBggr8;
  const bool is_low = frame.format == PixelFormat::kBayerGbrg8 || frame.format == PixelFormat::kBayerBggr8;
  return {frame.planes[0], frame.pitch_bytes[0], frame.width, frame.height, is_right ? 1 : 0, is_low ? 1 : 0};
}

}  // namespace saccade
