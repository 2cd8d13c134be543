#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ops/vision/box_overlap.hpp"
#include "vision/tracking/association.hpp"
#include "vision/tracking/box_motion.hpp"
#include "vision/tracking/frame_clock.hpp"
#include "vision/tracking/object_tracker.hpp"

namespace saccade {

/// A detection with an infinity or a NaN is on no track.
inline bool is_trackable(const TrackedBox& detection) {
  return std::isfinite(detection.confidence) &&
         std::ranges::all_of(detection.box, [](float side) { return std::isfinite(side); });
}

/// What all tracks have.
struct TrackState {
  TrackBox predicted{};
  std::chrono::nanoseconds seen{};  ///< its last detection
  std::int64_t id = 0;              ///< 0: not confirmed
};

/// The tracks of a stream, and the frame that they are matched with. TRACK is a TrackState with move(CameraTransform).
template <typename Track>
class TrackerBase : public ObjectTracker {
 protected:
  TrackerBase(const TrackerSettings& settings, double frame_rate) : settings_(settings), clock_(frame_rate) {
    tracks_.reserve(kUsualObjects);
    boxes_.reserve(kUsualObjects);
    free_.reserve(kUsualObjects);
    association_.reserve(kUsualObjects);
  }

  /// Clears IDS and drops the tracks whose time is over; nothing for a frame that is not later than the last one.
  std::optional<FrameStep> begin_frame(std::span<const TrackedBox> detections, std::chrono::nanoseconds time,
                                       std::span<std::int64_t> ids, const CameraTransform& camera) {
    if (ids.size() != detections.size())
      fail(ErrorCode::kInvalidArgument, "{} track IDs for {} detections", ids.size(), detections.size());
    std::ranges::fill(ids, 0);
    const auto step = clock_.advance(time);
    if (!step) return step;
    boxes_.clear();
    for (const TrackedBox& each : detections) boxes_.push_back({each.box[0], each.box[1], each.box[2], each.box[3]});
    std::erase_if(tracks_, [this](const Track& track) { return clock_.is_over(track.seen, settings_.keep); });
    if (camera != CameraTransform())
      for (Track& track : tracks_) track.move(camera);
    free_.resize(tracks_.size());
    std::iota(free_.begin(), free_.end(), std::size_t{0});
    return step;
  }

  double predicted_overlap(std::size_t track, std::size_t detection) const {
    return box_overlap(tracks_[track].predicted.data(), boxes_[detection].data());
  }

  void confirm(Track& track) {
    if (track.id == 0) track.id = ++last_id_;
  }

  /// Begins TRACK, and returns its ID.
  std::int64_t add(Track track) {
    track.seen = clock_.now();
    if (settings_.confirm <= 1) confirm(track);
    return tracks_.emplace_back(std::move(track)).id;
  }

  TrackerSettings settings_;
  FrameClock clock_;
  Association association_;
  std::vector<Track> tracks_;
  std::vector<TrackBox> boxes_;    ///< of the detections
  std::vector<std::size_t> free_;  ///< tracks without a detection

 private:
  std::int64_t last_id_ = 0;
};

/// SORT and ByteTrack.
std::unique_ptr<ObjectTracker> make_sort(const TrackerSettings& settings, double frame_rate);
std::unique_ptr<ObjectTracker> make_ocsort(const TrackerSettings& settings, double frame_rate);

}  // namespace saccade
