#pragma once

#include <span>
#include <string>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Holds copies of all that a Result refers to. Reuses its memory: it allocates only when a result is larger than those
/// before. One thread at a time. Not movable: results point into it.
class ResultStorage {
 public:
  ResultStorage() = default;
  ResultStorage(const ResultStorage&) = delete;
  ResultStorage& operator=(const ResultStorage&) = delete;

  /// Makes COPY a deep copy of RESULT, which is valid until the next call.
  void copy(const Result& result, Result& copy);
  /// Adds ZONES and EVENTS to COPY, which copy() has made. Their names are not copied.
  void add_zones(std::span<const ZoneState> zones, std::span<const ZoneEvent> events, Result& copy);
  /// Makes room for a copy of a result with twice as much in it as RESULT.
  void reserve(const Result& result, Result& copy);

 private:
  void reserve_zones(std::span<const ZoneState> zones, std::span<const ZoneEvent> events);
  void move_pixels(FrameView& image);

  std::string text_;
  std::vector<Keypoint> keypoints_;
  std::vector<MaskRun> runs_;
  std::vector<std::int32_t> cells_;
  std::vector<float> depths_;
  std::vector<float> embeddings_;
  std::vector<Classification> object_classes_;
  std::vector<ZoneState> zones_;
  std::vector<ZonePoint> zone_points_;
  std::vector<ZoneEvent> zone_events_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace saccade
