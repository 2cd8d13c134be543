#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/limits/ceilings.hpp"
#include "measure/limits/work.hpp"

namespace saccade {

/// How a camera is run.
struct CameraMode {
  FrameSize frame;
  double rate = 0;  ///< frames per second

  /// Bytes of a frame as they travel, rows without padding.
  std::int64_t frame_bytes() const;
  Nanoseconds period() const { return std::chrono::duration<double>(1 / rate); }
};

/// "320x240@90:YUYV". Throws Error (kInvalidArgument) showing what to write.
CameraMode parse_camera(std::string_view text);
std::string to_string(const CameraMode& camera);

/// "320x240:yuyv". Throws Error (kInvalidArgument) showing what to write.
FrameSize parse_frame_size(std::string_view text);
/// "320x240 yuyv"
std::string to_string(const FrameSize& frame);

/// What one frame passes through, one after the other.
struct FrameStage {
  std::string name;
  Nanoseconds time{};
  Nanoseconds bound{};  ///< 0: none is known
};

/// What becomes of a camera's frames where every one is processed to its end before the next is looked at.
struct FramePeriod {
  Nanoseconds period{};      ///< from frame to frame
  Nanoseconds processing{};  ///< of a frame, all stages
  Nanoseconds deficit{};     ///< processing less period: what each frame falls behind; 0 where it keeps up
  Nanoseconds slack{};       ///< what is left of a period; 0 where it does not keep up
  int frames = 0;
  Nanoseconds accumulated{};     ///< deficit of so many frames
  std::int64_t frames_lost = 0;  ///< whole periods in `accumulated`
  double efficiency = 0;         ///< share of the camera's frames that are processed
  double effective_rate = 0;     ///< frames per second: 1 / processing, at most the camera's
  std::string most_headroom;     ///< the stage whose bound explains the least share of its time; empty: no bounds
  std::vector<FrameStage> stages;
};
FramePeriod frame_period(const CameraMode& camera, const std::vector<FrameStage>& stages, int frames = 100);

/// The least time that a frame takes on a bus of so many bytes per second.
Nanoseconds bus_bound(const CameraMode& camera, double bus_rate);

}  // namespace saccade
