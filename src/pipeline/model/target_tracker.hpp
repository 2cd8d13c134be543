#pragma once

#include <array>
#include <optional>
#include <vector>

#include "pipeline/model/tiling.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// Follows one object: the tile of a frame is the square around the object's last box. A frame without the object
/// leaves the box as it is. Allocates when a target is set. One thread at a time.
class TargetTracker final : public Tiling {
 public:
  /// VISION outlives it. TARGET is the input for the target's image, whose memory outlives it.
  TargetTracker(const VisionPlan& vision, const TensorView& target);

  /// The next frame shows the object in BOX: corners, in pixels. Throws Error if BOX is smaller than a pixel, or has an
  /// edge beyond a million pixels.
  void follow(const std::array<float, 4>& box);

  /// Throws Error if there is no target, or if its box lies outside of the frame.
  std::size_t begin(const FrameView& frame) override;
  bool reads_pixels() const override { return true; }
  FrameView tile(std::size_t /*i*/) const override { return tile_; }
  void add(std::size_t i, const Result& predictions) override;
  /// The first frame's box is the target's own, with the confidence 1.
  void finish(Result& result) override;

 private:
  struct Square {
    int x = 0;
    int y = 0;
    int side = 0;
  };

  static Square square_around(const std::array<float, 4>& box, float factor);
  FrameView cut(const FrameView& frame, Square& square, int width, int height);
  void take_target(const FrameView& frame);
  void move_to(const Detection& found);

  const VisionPlan& vision_;
  TensorView target_;
  Tensor image_;  ///< the target's, preprocessed
  std::optional<std::array<float, 4>> box_;
  bool is_first_ = false;
  FrameView tile_;
  Square place_;  ///< of tile_ on the frame
  std::array<int, 2> frame_size_{};
  std::optional<Detection> found_;
  std::vector<std::uint8_t> pixels_;  ///< of a tile across the frame's border
};

}  // namespace saccade
