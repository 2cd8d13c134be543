#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "saccade/results.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// A crop that is not an axis-aligned part of its frame. Its pixel (x, y) is at the frame position
/// (map[0] * x + map[1] * y + map[2], map[3] * x + map[4] * y + map[5]), where (0, 0) is the centre of the first pixel.
struct CropWarp {
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels
  std::array<double, 6> map{};
};

/// BOX without its rotation, at the frame's scale, with MARGIN times its width or height on each side; at most MOST
/// pixels per side. Nothing if it is not finite or smaller than a pixel.
std::optional<CropWarp> oriented_crop(const OrientedBox& box, float margin, int most);

/// A face of WIDTH x HEIGHT pixels whose five landmarks (eyes, nose, corners of the mouth, left before right in the
/// image) are as close to ArcFace's as a similarity transform allows (Umeyama, 1991). Nothing if LANDMARKS are not five
/// finite points, or all the same.
std::optional<CropWarp> face_crop(std::span<const Keypoint> landmarks, int width, int height);

/// Writes the pixels of CROP to RGB, kRgb24 without padding: bilinear, without antialiasing, and black outside of
/// FRAME, as OpenCV's warpAffine. Does not allocate.
void warp(const FrameView& frame, const CropWarp& crop, std::uint8_t* rgb);

}  // namespace saccade
