#pragma once

#include <memory>
#include <vector>

#include "saccade/results.hpp"
#include "vision/thresholds.hpp"
#include "vision/tracking/camera_motion.hpp"
#include "vision/tracking/object_tracker.hpp"

namespace saccade {

/// Tracks the detections of one model in one stream. One thread. Allocates only while there are more of them than ever
/// before.
class ResultTracker {
 public:
  /// FRAME_RATE as in make_tracker().
  ResultTracker(const TrackerOptions& options, Thresholds thresholds, double frame_rate);

  /// Sets Detection::track_id in the result of the stream's next frame, FRAME, and removes what is neither above its
  /// threshold nor on a confirmed track. With TrackerOptions::camera, throws Error (kInvalidArgument) if the samples of
  /// FRAME are not readable on the host.
  void update(Result& result, const FrameView& frame);
  /// Whether update() reads the samples.
  bool reads_pixels() const { return camera_ != nullptr; }

 private:
  std::chrono::nanoseconds time_of(const Result& result);

  Thresholds thresholds_;
  std::unique_ptr<CameraMotion> camera_;  ///< null: it is not estimated
  std::unique_ptr<ObjectTracker> tracker_;
  std::chrono::nanoseconds period_;
  std::chrono::nanoseconds time_{};  ///< of the last frame; increases with each
  std::int64_t last_timestamp_ = 0;
  bool has_last_ = false;
  std::vector<TrackedBox> boxes_;
  std::vector<std::int64_t> ids_;
};

}  // namespace saccade
