#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/stream/frame_run.hpp"
#include "saccade/model.hpp"
#include "saccade/source.hpp"
#include "vision/zones/zone_counter.hpp"

namespace saccade {

/// The zones of a pipeline: a counter for each stream and model that zones apply to.
class StreamZones {
 public:
  /// A track that is not seen is remembered for KEEP: at least as long as its tracker keeps it. Throws Error
  /// (kInvalidArgument) naming the zone if its source, model or class is not there, or a point is outside of its
  /// frames.
  StreamZones(std::vector<Zone> zones, std::span<const Source> sources, std::span<const Model> models,
              std::chrono::nanoseconds keep);

  /// Counts the results of RUN, whose detections have their track IDs, and adds zones and events to them. On the
  /// executor's thread.
  void update(FrameRun& run);
  /// In the order of streams, models and zones. Any thread.
  std::vector<ZoneSummary> summaries() const;

 private:
  struct Place {
    std::vector<const Zone*> zones;
    std::unique_ptr<ZoneCounter> counter;  ///< null: no zone applies
    int width = 0;                         ///< of the frames that the zones were compared with
    int height = 0;
  };
  void warn_of_misfits(Place& place, const Result& result) const;

  std::vector<Zone> zones_;
  std::size_t models_;
  std::vector<Place> places_;  ///< by stream, then model
};

}  // namespace saccade
