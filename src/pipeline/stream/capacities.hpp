#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/bounded_queue.hpp"
#include "saccade/pipeline.hpp"

namespace saccade {

/// The number of frames and results that a pipeline holds at most.
struct Capacities {
  /// The models of a device.
  struct Work {
    std::vector<std::size_t> streams;  ///< that it processes
    std::size_t batch = 1;             ///< frames that it processes at once
    bool overlaps = false;             ///< it begins a batch before the results of the last one are read
  };

  Capacities(std::span<const Source> sources, std::span<const PipelineSink> sinks, const PipelineOptions& options,
             std::span<const Work> works);

  /// Buffers of the source with the index LANE: one is in capture.
  std::size_t buffers(std::size_t lane) const {
    return 1 + frames[lane].capacity + results[lane].capacity + in_models[lane] + in_sinks;
  }
  std::size_t runs() const;

  std::vector<LaneOptions> frames;     ///< by source
  std::vector<LaneOptions> results;    ///< for next(), by source
  std::vector<std::size_t> in_models;  ///< of the device of the source, by source
  std::size_t in_work = 0;             ///< in all models
  std::size_t in_sinks = 1;            ///< read through next(), in queues of sinks and being written
};

}  // namespace saccade
