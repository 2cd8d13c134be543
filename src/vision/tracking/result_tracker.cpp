#include "vision/tracking/result_tracker.hpp"

#include <algorithm>
#include <utility>

namespace saccade {

ResultTracker::ResultTracker(const TrackerOptions& options, Thresholds thresholds, double frame_rate)
    : thresholds_(std::move(thresholds)),
      camera_(options.camera ? std::make_unique<CameraMotion>() : nullptr),
      tracker_(make_tracker(settings_for(options, thresholds_.least()), frame_rate)),
      period_(std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double>(1 / (frame_rate > 0 ? frame_rate : kUsualFrameRate)))) {
  boxes_.reserve(kUsualObjects);
  ids_.reserve(kUsualObjects);
}

/// Images have no timestamps, and those of a stream jump back where its clock is set: such a frame follows after the
/// nominal period.
std::chrono::nanoseconds ResultTracker::time_of(const Result& result) {
  const std::chrono::nanoseconds step(result.timestamp_ns - last_timestamp_);
  if (has_last_) time_ += step.count() > 0 ? step : period_;
  has_last_ = true;
  last_timestamp_ = result.timestamp_ns;
  return time_;
}

void ResultTracker::update(Result& result, const FrameView& frame) {
  boxes_.clear();
  for (const Detection& each : result.detections) boxes_.push_back({each.box, each.confidence});
  ids_.resize(boxes_.size());
  tracker_->update(boxes_, time_of(result), ids_, camera_ != nullptr ? camera_->next(frame) : CameraTransform());
  for (std::size_t i = 0; i < ids_.size(); ++i) result.detections[i].track_id = ids_[i];
  std::erase_if(result.detections, [this](const Detection& each) {
    return each.track_id == 0 && !(each.confidence > thresholds_.of(each.class_id));
  });
}

}  // namespace saccade
