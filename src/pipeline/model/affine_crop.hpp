#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "saccade/results.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// Where a crop lies in a frame: the centre of its pixel (x, y) is at (xx * x + xy * y + x0, yx * x + yy * y + y0), in
/// pixels between the centres of the frame's.
struct AffineMap {
  double xx = 1;
  double xy = 0;
  double x0 = 0;
  double yx = 0;
  double yy = 1;
  double y0 = 0;
};

/// BOX with MARGIN times its size on each side, turned upright into a crop of WIDTH x HEIGHT pixels.
AffineMap upright(const OrientedBox& box, float margin, int width, int height);

/// The crop of WIDTH x HEIGHT pixels in which the LANDMARKS of a face (eyes, nose, corners of the mouth; the left of
/// the image first) are closest to ArcFace's template: the inverse of the similarity transform of least squares
/// (Umeyama, "Least-squares estimation of transformation parameters between two point patterns", 1991). The template is
/// that of InsightFace for 112 x 112 pixels, scaled to the shorter side and centred. Nothing if the landmarks coincide
/// or are not finite. LANDMARKS are five.
std::optional<AffineMap> aligned_face(std::span<const Keypoint> landmarks, int width, int height);

/// The value of a crop's pixels outside of the frame.
enum class CropBorder : std::uint8_t {
  kBlack,    ///< as in InsightFace
  kNearest,  ///< the frame's last pixel, as in PaddleOCR
};

/// Crops that are not upright in the frame, as RGB. Reuses its memory. One thread at a time.
class AffineCrop {
 public:
  /// The crop of WIDTH x HEIGHT pixels of FRAME at MAP, interpolated bilinearly between pixel centres as OpenCV's
  /// warpAffine does; valid until the next call. Nothing if none of its pixels is in the frame.
  std::optional<FrameView> cut(const FrameView& frame, const AffineMap& map, int width, int height, CropBorder border);

 private:
  std::vector<std::uint8_t> pixels_;  ///< of the frame, as RGB: the part that the crop touches
  std::vector<std::uint8_t> crop_;
};

}  // namespace saccade
