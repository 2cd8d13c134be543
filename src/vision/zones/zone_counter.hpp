#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "saccade/results.hpp"
#include "saccade/summary.hpp"
#include "vision/zones/area_visit.hpp"
#include "vision/zones/class_votes.hpp"
#include "vision/zones/line_crossing.hpp"

namespace saccade {

/// Counts the tracked objects that one model finds in one stream. One thread, except summaries(). Allocates only while
/// there are more tracks, classes and events in a frame than ever before.
class ZoneCounter {
 public:
  /// ZONES outlive it and are valid (check_zones()). A track that is not seen is remembered for KEEP, at least as long
  /// as its tracker keeps it.
  ZoneCounter(std::span<const Zone* const> zones, std::chrono::nanoseconds keep);

  /// Takes the detections of the next frame that are on a confirmed track: their track_id, boxes and classes, with the
  /// frame's size and timestamp.
  void update(const Result& result);
  /// What the last frame has changed; valid until the next update().
  std::span<const ZoneEvent> events() const { return events_; }
  /// The zones as of the last frame; valid until the next update().
  std::span<const ZoneState> states() const { return states_; }
  /// Counts so far, in the order of the zones, without stream and model. Any thread.
  std::vector<ZoneSummary> summaries() const;

 private:
  struct Track {
    std::int64_t id = 0;
    std::chrono::nanoseconds seen{};
    std::int64_t update = 0;  ///< in which it was seen last
    ClassVotes votes;
  };
  /// One track and one zone: the member of the zone's kind is in use.
  struct Meeting {
    LineCrossing line;
    AreaVisit area;
    int class_id = 0;  ///< with which it has entered the area
  };
  struct Counted {
    std::int64_t in = 0;
    std::int64_t out = 0;
    std::vector<ZoneClassCount> classes;  ///< by class ID
    DwellTimes dwell;
  };

  void advance(std::int64_t timestamp_ns);
  void place(int width, int height);
  void end_visits();
  void see(const Detection& detection);
  std::size_t index_of(std::int64_t id);
  void look(std::size_t zone, const Detection& detection, std::size_t track);
  void forget();
  void change(std::size_t track, std::size_t zone, const AreaVisit::Changed& changed);
  void emit(std::size_t zone, ZoneEvent event, std::chrono::nanoseconds since);
  bool is_wanted(std::size_t zone, const Track& track) const;
  std::string_view name_of(int class_id) const;
  LineSegment segment_of(std::size_t zone) const;
  Meeting& meeting(std::size_t track, std::size_t zone) { return meetings_[track * zones_.size() + zone]; }

  std::vector<const Zone*> zones_;
  std::chrono::nanoseconds keep_;
  std::chrono::nanoseconds now_{};  ///< does not decrease
  std::int64_t shift_ns_ = 0;       ///< of now_ from the last timestamp
  bool has_begun_ = false;
  std::int64_t updates_ = 0;
  int width_ = -1;  ///< of the last frame
  int height_ = -1;

  std::vector<Track> tracks_;         ///< by ID
  std::vector<Meeting> meetings_;     ///< by track, then zone
  std::map<int, std::string> names_;  ///< of classes, as seen in detections
  std::vector<ZonePoint> points_;     ///< of all zones, in pixels
  std::vector<ZoneState> states_;     ///< by zone
  std::vector<ZoneEvent> events_;
  mutable std::mutex mutex_;
  std::vector<Counted> counted_;  ///< by zone; under the mutex
};

/// Why ZONE does not fit a frame of WIDTH x HEIGHT pixels: a point is outside; empty if it fits.
std::string misfit_of(const Zone& zone, int width, int height);
/// Whether ZONE is a line along an edge of a frame of WIDTH x HEIGHT pixels, beyond which no position can be.
bool is_on_edge(const Zone& zone, int width, int height);

}  // namespace saccade
