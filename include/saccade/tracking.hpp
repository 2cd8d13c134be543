#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace saccade {

/// A tracker of many objects.
enum class TrackerKind : std::uint8_t {
  kByteTrack,  ///< Y. Zhang et al., "ByteTrack: multi-object tracking by associating every detection box", 2022
  kOcSort,     ///< J. Cao et al., "Observation-centric SORT", 2023
  kSort,       ///< A. Bewley et al., "Simple online and realtime tracking", 2016
};
/// "bytetrack", "ocsort", "sort"
std::string_view to_string(TrackerKind kind);

/// Settings of a tracker. The defaults are ByteTrack's; tracker_options() has those of the others.
struct TrackerOptions {
  /// Which tracker.
  TrackerKind kind = TrackerKind::kByteTrack;
  /// Least confidence of a detection that continues a track (ByteTrack): the model predicts down to it. A detection
  /// below the model's confidence threshold is in the result only if it is on a track.
  double low = 0.1;
  /// Least confidence of a detection that is associated first; nullopt: the model's confidence threshold. ByteTrack
  /// associates those below it second, OC-SORT does not use them, SORT associates all detections first.
  std::optional<double> high;
  /// Least confidence of a detection that begins a track; nullopt: `high`, for ByteTrack 0.1 more.
  std::optional<double> start;
  /// Least IoU of a detection with the predicted box of its track.
  double match = 0.1;
  /// Consecutive detections after which a track is confirmed; OC-SORT does not count the first one.
  int confirm = 2;
  /// How long a track without a detection is kept. SORT and ByteTrack drop one that is not confirmed at once.
  std::chrono::nanoseconds keep = std::chrono::seconds(1);
  /// Weight of the direction of motion (OC-SORT).
  double direction = 0.2;
  /// Whether the camera's own motion is estimated from the frames and taken out of the objects'.
  bool camera = false;
};

/// Parses "bytetrack", or "ocsort:match=0.2,keep=2" (seconds). Throws Error (kInvalidArgument) naming what is wrong and
/// what there is.
TrackerOptions tracker_options(std::string_view text);

/// Throws Error (kInvalidArgument) with the setting that is out of range.
void check_tracker_options(const TrackerOptions& options);

}  // namespace saccade
