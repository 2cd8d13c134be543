#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "vision/tracking/trackers.hpp"

namespace saccade {
namespace {

/// Frames back to the detection from which a track's direction is measured.
constexpr std::size_t kLookback = 3;

struct TrackPoint {
  double x = 0;
  double y = 0;
};

TrackPoint center_of(const TrackBox& box) { return {(box[0] + box[2]) / 2, (box[1] + box[3]) / 2}; }

/// Above 0, so that points that coincide have the direction 0.
double length_of(double x, double y) {
  constexpr double kTiny = 1e-6;
  return std::sqrt(x * x + y * y) + kTiny;
}

/// The unit vector from one point to another; 0 where they coincide.
TrackPoint direction_of(const TrackPoint& from, const TrackPoint& to) {
  const double x = to.x - from.x;
  const double y = to.y - from.y;
  const double length = length_of(x, y);
  return {x / length, y / length};
}

/// M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 4.4.45: within 7e-5 rad, several times as fast as
/// std::asin().
double arc_sine(double x) {
  const double a = std::min(std::abs(x), 1.0);
  const double rest = std::sqrt(1 - a) * (1.5707288 + a * (-0.2121144 + a * (0.0742610 + a * -0.0187293)));
  return std::copysign(std::numbers::pi / 2 - rest, x);
}

/// A track's last detections, by its age in frames.
class SeenBoxes {
 public:
  void add(std::int64_t age, const TrackBox& box) {
    newest_ = age;
    entries_[slot(age)] = {age, box};
  }
  void move(const CameraTransform& camera) {
    for (Entry& entry : entries_) entry.box = camera.apply(entry.box);
  }
  bool empty() const { return newest_ < 0; }
  /// The detection kLookback frames before AGE, or the next one after it, or else the newest.
  const TrackBox& before(std::int64_t age) const {
    for (std::int64_t at = age - static_cast<std::int64_t>(kLookback); at < age; ++at)
      if (at >= 0 && entries_[slot(at)].age == at) return entries_[slot(at)].box;
    return entries_[slot(newest_)].box;
  }

 private:
  struct Entry {
    std::int64_t age = -1;
    TrackBox box{};
  };
  static std::size_t slot(std::int64_t age) { return static_cast<std::size_t>(age) % (kLookback + 1); }

  std::array<Entry, kLookback + 1> entries_{};
  std::int64_t newest_ = -1;
};

struct ShapeTrack : TrackState {
  ShapeMotion motion;
  ShapeMotion lost;  ///< where the first frame without a detection began
  bool is_lost = false;
  double lost_frames = 0;  ///< time since then, in frames
  int missed = 0;          ///< predictions since the last detection
  TrackBox last{};         ///< its last detection
  SeenBoxes history;
  TrackPoint origin;  ///< the centre of the detection from which the direction is measured
  bool has_direction = false;
  TrackPoint direction;
  std::int64_t age = 0;  ///< predictions
  int hits = 0;          ///< detections in a row after the first one

  void move(const CameraTransform& camera) {
    motion.move(camera);
    lost.move(camera);
    last = camera.apply(last);
    history.move(camera);
    const auto turned = camera.turn(direction.x, direction.y);
    direction = {turned[0] / camera.scale(), turned[1] / camera.scale()};
  }
};

TrackBox between(const TrackBox& from, const TrackBox& to, double share) {
  TrackBox box;
  // Centre, width and height change linearly: so do the corners.
  for (std::size_t i = 0; i < 4; ++i) box[i] = from[i] + share * (to[i] - from[i]);
  return box;
}

/// Observation-centric SORT: the first match weighs the direction in which a track moves, the second one compares with
/// the last detection instead of the prediction, and a track that is found again is filtered once more along the line
/// between its detections, whose errors the prediction without detections has accumulated.
class OcSort final : public TrackerBase<ShapeTrack> {
 public:
  OcSort(const TrackerSettings& settings, double frame_rate) : TrackerBase(settings, frame_rate) {
    candidates_.reserve(kUsualObjects);
  }

  void update(std::span<const TrackedBox> detections, std::chrono::nanoseconds time, std::span<std::int64_t> ids,
              const CameraTransform& camera) override {
    const auto step = begin_frame(detections, time, ids, camera);
    if (!step) return;
    predict(*step);
    candidates_.clear();
    for (std::size_t i = 0; i < detections.size(); ++i)
      if (detections[i].confidence >= settings_.high && is_trackable(detections[i])) candidates_.push_back(i);
    const auto match = [&](std::size_t track, std::size_t i) { ids[i] = found(tracks_[track], boxes_[i]); };
    association_.run(
        free_, candidates_, settings_.match,
        [this](std::size_t track, std::size_t i) { return predicted_overlap(track, i); },
        [&](std::size_t track, std::size_t i, double overlap) {
          return overlap + settings_.direction * consistency(tracks_[track], boxes_[i]) * detections[i].confidence;
        },
        match);
    association_.run(
        free_, candidates_, settings_.match,
        [this](std::size_t track, std::size_t i) { return box_overlap(tracks_[track].last.data(), boxes_[i].data()); },
        [](std::size_t, std::size_t, double overlap) { return overlap; }, match);
    for (const std::size_t i : candidates_)
      if (detections[i].confidence >= settings_.start) ids[i] = begin(boxes_[i]);
    ++frames_;
  }

 private:
  void predict(const FrameStep& step) {
    for (ShapeTrack& track : tracks_) {
      if (track.missed > 0) {
        track.hits = 0;
        if (!track.is_lost) {
          track.lost = track.motion;
          track.is_lost = true;
          track.lost_frames = 0;
        }
      }
      track.motion.predict(step);
      track.lost_frames += step.frames;
      track.predicted = track.motion.box();
      ++track.missed;
      ++track.age;
      track.origin = center_of(track.history.empty() ? track.last : track.history.before(track.age));
    }
  }

  /// How well a detection lies in a track's direction: 0.5 for the same, -0.5 for the opposite one.
  static double consistency(const ShapeTrack& track, const TrackBox& box) {
    if (!track.has_direction) return 0;
    const TrackPoint center = center_of(box);
    const double x = center.x - track.origin.x;
    const double y = center.y - track.origin.y;
    // 0.5 less the angle between the directions in units of pi.
    return arc_sine((track.direction.x * x + track.direction.y * y) / length_of(x, y)) * std::numbers::inv_pi;
  }

  std::int64_t found(ShapeTrack& track, const TrackBox& box) {
    if (!track.history.empty()) {
      track.direction = direction_of(track.origin, center_of(box));
      track.has_direction = true;
    }
    if (track.is_lost) filter_again(track, box);
    track.motion.update(box);
    track.last = box;
    track.history.add(track.age, box);
    track.missed = 0;
    track.seen = clock_.now();
    ++track.hits;
    // The paper's own code also withholds a confirmed number for some frames after a gap.
    if (track.hits >= settings_.confirm || frames_ <= settings_.confirm) confirm(track);
    return track.id;
  }

  /// As if there had been a detection in each frame without one, on the way to BOX.
  void filter_again(ShapeTrack& track, const TrackBox& box) {
    track.motion = track.lost;
    track.is_lost = false;
    const FrameStep step = clock_.step(track.lost_frames / std::max(track.missed - 1, 1));
    for (int i = 1; i <= track.missed; ++i) {
      track.motion.update(between(track.last, box, static_cast<double>(i) / track.missed));
      if (i < track.missed) track.motion.predict(step);
    }
  }

  std::int64_t begin(const TrackBox& box) {
    ShapeTrack track;
    track.motion = ShapeMotion(box);
    track.last = box;
    return add(std::move(track));
  }

  std::vector<std::size_t> candidates_;  ///< detections
  std::int64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<ObjectTracker> make_ocsort(const TrackerSettings& settings, double frame_rate) {
  return std::make_unique<OcSort>(settings, frame_rate);
}

}  // namespace saccade
