#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "saccade/tracking.hpp"
#include "vision/tracking/camera_transform.hpp"

namespace saccade {

/// TrackerOptions for a model: nothing is left open.
struct TrackerSettings {
  TrackerKind kind = TrackerKind::kByteTrack;
  double high = 0;
  double start = 0;
  double match = 0;
  int confirm = 0;
  std::chrono::nanoseconds keep{};
  double direction = 0;
};

/// OPTIONS for a model whose detections have at least CONFIDENCE.
TrackerSettings settings_for(const TrackerOptions& options, double confidence);

/// A detection, as a tracker sees it.
struct TrackedBox {
  std::array<float, 4> box{};  ///< x1, y1, x2, y2
  float confidence = 0;
};

/// Follows the objects of one stream from frame to frame. One thread. Allocates only while there are more tracks and
/// detections than ever before.
class ObjectTracker {
 public:
  virtual ~ObjectTracker() = default;

  /// The detections of a frame at TIME. IDS gets, for each, the number of its track, from 1; 0: it has none, or one
  /// that is not confirmed yet. A number is never used for another track. A frame that is not later than the last one
  /// continues no track: its IDS are 0. CAMERA: its motion since the last frame. Throws Error (kInvalidArgument) if IDS
  /// has another size.
  virtual void update(std::span<const TrackedBox> detections, std::chrono::nanoseconds time,
                      std::span<std::int64_t> ids, const CameraTransform& camera = {}) = 0;
};

/// The number of objects and tracks from which on a tracker allocates.
inline constexpr std::size_t kUsualObjects = 64;

/// The frame rate of a stream whose own is unknown.
inline constexpr double kUsualFrameRate = 30;

/// FRAME_RATE: the nominal rate of the stream, frames per second; 0: unknown.
std::unique_ptr<ObjectTracker> make_tracker(const TrackerSettings& settings, double frame_rate);

}  // namespace saccade
