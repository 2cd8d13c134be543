#pragma once

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "vision/tracking/box_motion.hpp"
#include "vision/tracking/object_tracker.hpp"

namespace saccade {

inline TrackBox track_box(const TrackedBox& detection) {
  return {detection.box[0], detection.box[1], detection.box[2], detection.box[3]};
}

/// A detection with an infinity or a NaN is on no track.
inline bool is_trackable(const TrackedBox& detection) {
  return std::isfinite(detection.confidence) &&
         std::ranges::all_of(detection.box, [](float side) { return std::isfinite(side); });
}

inline void check_sizes(std::span<const TrackedBox> detections, std::span<std::int64_t> ids) {
  if (ids.size() != detections.size())
    fail(ErrorCode::kInvalidArgument, "{} track IDs for {} detections", ids.size(), detections.size());
}

/// SORT and ByteTrack.
std::unique_ptr<ObjectTracker> make_sort(const TrackerOptions& options, double frame_rate);
std::unique_ptr<ObjectTracker> make_ocsort(const TrackerOptions& options, double frame_rate);

}  // namespace saccade
