#include "vision/tracking/trackers.hpp"

namespace saccade {
namespace {

struct CornerTrack : TrackState {
  CornerMotion motion;
  int hits = 1;  ///< detections in a row, until it is confirmed

  void move(const CameraTransform& camera) { motion.move(camera); }
};

/// ByteTrack. SORT is ByteTrack all of whose detections are matched first: a track that is not confirmed ends where a
/// detection is missing, so that its detections in a row are all that it has.
class Sort final : public TrackerBase<CornerTrack> {
 public:
  Sort(const TrackerSettings& settings, double frame_rate) : TrackerBase(settings, frame_rate) {
    high_.reserve(kUsualObjects);
    low_.reserve(kUsualObjects);
  }

  void update(std::span<const TrackedBox> detections, std::chrono::nanoseconds time, std::span<std::int64_t> ids,
              const CameraTransform& camera) override {
    const auto step = begin_frame(detections, time, ids, camera);
    if (!step) return;
    for (CornerTrack& track : tracks_) {
      track.motion.predict(*step);
      track.predicted = track.motion.box();
    }
    divide(detections);
    match(high_, ids);
    match(low_, ids);
    std::erase_if(tracks_, [&](const CornerTrack& track) { return track.id == 0 && track.seen != clock_.now(); });
    for (const std::size_t i : high_)
      if (detections[i].confidence >= settings_.start) ids[i] = add({{}, CornerMotion(boxes_[i])});
  }

 private:
  void divide(std::span<const TrackedBox> detections) {
    high_.clear();
    low_.clear();
    for (std::size_t i = 0; i < detections.size(); ++i)
      if (is_trackable(detections[i])) (detections[i].confidence >= settings_.high ? high_ : low_).push_back(i);
  }

  void match(std::vector<std::size_t>& candidates, std::span<std::int64_t> ids) {
    association_.run(
        free_, candidates, settings_.match,
        [this](std::size_t track, std::size_t i) { return predicted_overlap(track, i); },
        [](std::size_t, std::size_t, double overlap) { return overlap; },
        [&](std::size_t track, std::size_t i) { ids[i] = found(tracks_[track], boxes_[i]); });
  }

  std::int64_t found(CornerTrack& track, const TrackBox& box) {
    track.motion.update(box);
    track.seen = clock_.now();
    if (track.id == 0 && ++track.hits >= settings_.confirm) confirm(track);
    return track.id;
  }

  std::vector<std::size_t> high_;  ///< detections
  std::vector<std::size_t> low_;   ///< detections
};

}  // namespace

std::unique_ptr<ObjectTracker> make_sort(const TrackerSettings& settings, double frame_rate) {
  return std::make_unique<Sort>(settings, frame_rate);
}

}  // namespace saccade
