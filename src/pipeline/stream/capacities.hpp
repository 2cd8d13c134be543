#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/bounded_queue.hpp"
#include "saccade/pipeline.hpp"

namespace saccade {

/// The number of frames and results that a pipeline holds at most.
struct Capacities {
  /// OVERLAPS: the models begin a batch of BATCH frames before the results of the last one are read.
  Capacities(std::span<const Source> sources, std::span<const PipelineSink> sinks, const PipelineOptions& options,
             bool overlaps, std::size_t batch);

  /// Buffers of the source with the index LANE: one is in capture.
  std::size_t buffers(std::size_t lane) const { return 1 + frames[lane].capacity + results[lane].capacity + in_work; }
  std::size_t runs() const;

  std::vector<LaneOptions> frames;   ///< by source
  std::vector<LaneOptions> results;  ///< for next(), by source
  std::size_t in_work;               ///< in the models, read through next(), in queues of sinks and being written
};

}  // namespace saccade
