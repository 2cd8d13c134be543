#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace saccade {

enum class TrackerKind : std::uint8_t {
  kSort,       ///< A. Bewley et al., "Simple online and realtime tracking", 2016
  kByteTrack,  ///< Y. Zhang et al., "ByteTrack: multi-object tracking by associating every detection box", 2022
  kOcSort,     ///< J. Cao et al., "Observation-centric SORT", 2023
};

/// Settings of a tracker. The defaults are ByteTrack's; those of the others are in tracker_options().
struct TrackerOptions {
  TrackerKind kind = TrackerKind::kByteTrack;
  /// Least IoU of a detection with the predicted box of its track.
  double match = 0.1;
  /// Detections from here on are matched first. Those below only continue tracks (ByteTrack), or are not used.
  double high = 0.6;
  /// Least confidence of a detection that begins a track.
  double start = 0.7;
  /// Detections in a row after which a track is confirmed; OC-SORT does not count the first one.
  int confirm = 2;
  /// How long a track without a detection is kept. SORT and ByteTrack keep one that is not confirmed for no frame.
  std::chrono::nanoseconds keep = std::chrono::seconds(1);
  /// Weight of the direction of motion (OC-SORT).
  double direction = 0.2;
};

/// Reads "bytetrack", or "ocsort:match=0.2,keep=2" (seconds). Throws Error (kInvalidArgument) naming what is wrong and
/// what there is.
TrackerOptions tracker_options(std::string_view text);

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
  /// continues no track: its IDS are 0. Throws Error (kInvalidArgument) if IDS has another size.
  virtual void update(std::span<const TrackedBox> detections, std::chrono::nanoseconds time,
                      std::span<std::int64_t> ids) = 0;
};

/// FRAME_RATE: the nominal rate of the stream, frames per second; 0: unknown, 30.
std::unique_ptr<ObjectTracker> make_tracker(const TrackerOptions& options, double frame_rate);

}  // namespace saccade
