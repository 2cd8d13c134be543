#include "pipeline/stream/capacities.hpp"

#include <algorithm>

#include "pipeline/stream/sink_runner.hpp"

namespace saccade {
namespace {

// Long enough to hide a slow frame of the decoder, short enough to keep few frames in memory.
constexpr std::size_t kFileQueue = 4;
constexpr std::size_t kLiveQueue = 1;

LaneOptions lane_of(const SourceInfo& source, const PipelineOptions& options, std::size_t batch) {
  LaneOptions lane{.policy = options.drop, .capacity = options.queue};
  if (lane.policy == DropPolicy::kAuto) lane.policy = source.live ? DropPolicy::kOldest : DropPolicy::kWait;
  if (lane.capacity == 0) lane.capacity = source.live ? kLiveQueue : std::max(kFileQueue, batch);
  return lane;
}

/// The lane of results for next(): whoever waits needs no more than one ahead.
LaneOptions results_lane(const LaneOptions& frames) {
  return {.policy = frames.policy, .capacity = frames.policy == DropPolicy::kWait ? 1 : frames.capacity};
}

}  // namespace

Capacities::Capacities(std::span<const Source> sources, std::span<const PipelineSink> sinks,
                       const PipelineOptions& options, bool overlaps, std::size_t batch)
    : in_work(1 + (overlaps ? 2 : 1) * batch) {
  for (const Source& source : sources) {
    frames.push_back(lane_of(source.info(), options, batch));
    results.push_back(results_lane(frames.back()));
  }
  for (const PipelineSink& sink : sinks) in_work += SinkRunner::capacity_of(sink) + 1;
}

std::size_t Capacities::runs() const {
  std::size_t count = in_work;
  for (const LaneOptions& lane : results) count += lane.capacity;
  return count;
}

}  // namespace saccade
