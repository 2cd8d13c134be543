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
                       const PipelineOptions& options, std::span<const Work> works)
    : frames(sources.size()), results(sources.size()), in_models(sources.size()) {
  for (const Work& work : works) {
    const std::size_t held = (work.overlaps ? 2 : 1) * work.batch;
    in_work += held;
    for (const std::size_t stream : work.streams) {
      frames[stream] = lane_of(sources[stream].info(), options, work.batch);
      results[stream] = results_lane(frames[stream]);
      in_models[stream] = held;
    }
  }
  for (const PipelineSink& sink : sinks) in_sinks += SinkRunner::capacity_of(sink) + 1;
}

std::size_t Capacities::runs() const {
  std::size_t count = in_work + in_sinks;
  for (const LaneOptions& lane : results) count += lane.capacity;
  return count;
}

}  // namespace saccade
