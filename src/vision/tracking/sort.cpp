#include <numeric>
#include <vector>

#include "vision/tracking/association.hpp"
#include "vision/tracking/frame_clock.hpp"
#include "vision/tracking/trackers.hpp"

namespace saccade {
namespace {

struct CornerTrack {
  CornerMotion motion;
  TrackBox predicted{};
  std::chrono::nanoseconds seen{};  ///< its last detection
  int hits = 1;                     ///< detections in a row, until it is confirmed
  std::int64_t id = 0;              ///< 0: not confirmed
};

/// ByteTrack. SORT is ByteTrack all of whose detections are matched first: a track that is not confirmed ends where a
/// detection is missing, so that its detections in a row are all that it has.
class Sort final : public ObjectTracker {
 public:
  Sort(const TrackerOptions& options, double frame_rate) : options_(options), clock_(frame_rate) {}

  void update(std::span<const TrackedBox> detections, std::chrono::nanoseconds time,
              std::span<std::int64_t> ids) override {
    check_sizes(detections, ids);
    std::ranges::fill(ids, 0);
    const auto step = clock_.advance(time);
    if (!step) return;
    predict(*step);
    sort_out(detections);
    match(high_, ids);
    match(low_, ids);
    std::erase_if(tracks_, [&](const CornerTrack& track) { return track.id == 0 && track.seen != clock_.now(); });
    for (const std::size_t i : high_)
      if (detections[i].confidence >= options_.start) ids[i] = begin(boxes_[i]);
  }

 private:
  void predict(const FrameStep& step) {
    std::erase_if(tracks_, [this](const CornerTrack& track) { return clock_.is_over(track.seen, options_.keep); });
    for (CornerTrack& track : tracks_) {
      track.motion.predict(step);
      track.predicted = track.motion.box();
    }
    free_.resize(tracks_.size());
    std::iota(free_.begin(), free_.end(), std::size_t{0});
  }

  void sort_out(std::span<const TrackedBox> detections) {
    high_.clear();
    low_.clear();
    boxes_.clear();
    for (std::size_t i = 0; i < detections.size(); ++i) {
      boxes_.push_back(track_box(detections[i]));
      if (is_trackable(detections[i])) (detections[i].confidence >= options_.high ? high_ : low_).push_back(i);
    }
  }

  void match(std::vector<std::size_t>& candidates, std::span<std::int64_t> ids) {
    association_.run(
        free_, candidates, options_.match,
        [this](std::size_t track, std::size_t i) { return overlap_of(tracks_[track].predicted, boxes_[i]); },
        [](std::size_t, std::size_t, double overlap) { return overlap; },
        [&](std::size_t track, std::size_t i) { ids[i] = found(tracks_[track], boxes_[i]); });
  }

  std::int64_t found(CornerTrack& track, const TrackBox& box) {
    track.motion.update(box);
    track.seen = clock_.now();
    if (track.id == 0 && ++track.hits >= options_.confirm) track.id = ++last_id_;
    return track.id;
  }

  std::int64_t begin(const TrackBox& box) {
    CornerTrack track;
    track.motion = CornerMotion(box);
    track.seen = clock_.now();
    if (options_.confirm <= 1) track.id = ++last_id_;
    tracks_.push_back(track);
    return track.id;
  }

  TrackerOptions options_;
  FrameClock clock_;
  Association association_;
  std::vector<CornerTrack> tracks_;
  std::vector<TrackBox> boxes_;    ///< of the detections
  std::vector<std::size_t> high_;  ///< detections
  std::vector<std::size_t> low_;   ///< detections
  std::vector<std::size_t> free_;  ///< tracks without a detection
  std::int64_t last_id_ = 0;
};

}  // namespace

std::unique_ptr<ObjectTracker> make_sort(const TrackerOptions& options, double frame_rate) {
  return std::make_unique<Sort>(options, frame_rate);
}

}  // namespace saccade
