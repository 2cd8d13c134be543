#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/limits/ceilings.hpp"
#include "measure/limits/work.hpp"

namespace saccade {

/// A camera's mode.
struct CameraMode {
  FrameSize frame;
  double rate = 0;  ///< frames per second

  /// Bytes of a frame in transfer, rows without padding.
  std::int64_t frame_bytes() const;
  Nanoseconds period() const { return std::chrono::duration<double>(1 / rate); }
};

/// "320x240@90:YUYV". Throws Error (kInvalidArgument) showing the syntax.
CameraMode parse_camera(std::string_view text);
std::string to_string(const CameraMode& camera);

/// "320x240:yuyv". Throws Error (kInvalidArgument) showing the syntax.
FrameSize parse_frame_size(std::string_view text);
/// "320x240 yuyv"
std::string to_string(const FrameSize& frame);

/// One sequential stage of a frame's processing.
struct FrameStage {
  std::string name;
  Nanoseconds time{};
  Nanoseconds bound{};  ///< 0: unknown
};

/// The timing of a camera's frames if each is processed to the end before the next is taken.
struct FramePeriod {
  Nanoseconds period{};      ///< from frame to frame
  Nanoseconds processing{};  ///< total of all stages
  Nanoseconds deficit{};     ///< processing minus period: the delay that each frame adds; 0 if it keeps up
  Nanoseconds slack{};       ///< remaining time per period; 0 if it does not keep up
  int frames = 0;
  Nanoseconds accumulated{};     ///< deficit of so many frames
  std::int64_t frames_lost = 0;  ///< whole periods in `accumulated`
  double efficiency = 0;         ///< share of the camera's frames that are processed
  double effective_rate = 0;     ///< frames per second: 1 / processing, at most the camera's
  std::string most_headroom;     ///< the stage whose bound explains the least share of its time; empty: no bounds
  std::vector<FrameStage> stages;
};
FramePeriod frame_period(const CameraMode& camera, const std::vector<FrameStage>& stages, int frames = 100);

/// The least transfer time of a frame over a bus of so many bytes per second.
Nanoseconds bus_bound(const CameraMode& camera, double bus_rate);

}  // namespace saccade
