#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/frame.hpp"
#include "vision/tracking/camera_transform.hpp"

namespace saccade {

/// A plane of grey values.
struct LumaPlane {
  int width = 0;
  int height = 0;
  std::vector<float> pixels;

  void resize(int columns, int rows);
  float at(int x, int y) const { return pixels[static_cast<std::size_t>(y * width + x)]; }
};

/// Estimates the motion of the camera between consecutive frames of a stream from their coarse luma: Lucas and Kanade's
/// alignment ("An iterative image registration technique", 1981) of the pixels with the steepest gradients, from the
/// coarsest level of a pyramid to the finest. Pixels whose residuals exceed those of most others, such as those of
/// moving objects, do not count (Tukey's biweight). One thread. Allocates only for a frame that is larger than all
/// before.
class CameraMotion {
 public:
  /// The motion from the last frame to FRAME, whose samples are readable on the host; none for the first one, one of
  /// another size, and where the frames do not match.
  CameraTransform next(const FrameView& frame);

 private:
  static constexpr std::size_t kLevels = 4;
  using Pyramid = std::array<LumaPlane, kLevels>;

  /// A pixel of the last frame that is looked for.
  struct Feature {
    float x = 0;
    float y = 0;
    float value = 0;
    float gradient_x = 0;
    float gradient_y = 0;
  };

  void build(const FrameView& frame, Pyramid& pyramid);
  void reserve();
  void find_features(const LumaPlane& plane, std::vector<Feature>& features) const;
  float residual(std::size_t level, const CameraTransform& transform);
  bool align(std::size_t level, CameraTransform& transform);
  std::optional<CameraTransform> align_from(std::size_t level);

  Pyramid last_;
  Pyramid now_;
  std::array<std::vector<Feature>, kLevels> features_;  ///< of the last frame
  std::vector<float> residuals_;
  std::vector<float> sizes_;        ///< of the residuals inside the plane
  std::vector<std::uint32_t> row_;  ///< sums over frame rows
  int factor_ = 0;                  ///< frame pixels per pixel of the finest level
  int width_ = 0;                   ///< of the last frame
  int height_ = 0;
};

}  // namespace saccade
