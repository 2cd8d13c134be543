#include "cuda/executor/step_costs.hpp"

#include <algorithm>

namespace saccade::cuda {
namespace {

constexpr int kRounds = 25;

/// One graph launch, in milliseconds by CUDA events.
float time_of(CUgraphExec graph, CUstream stream, const Event& start, const Event& end) {
  SACCADE_CUDA(cuEventRecord(start.get(), stream));
  SACCADE_CUDA(cuGraphLaunch(graph, stream));
  SACCADE_CUDA(cuEventRecord(end.get(), stream));
  SACCADE_CUDA(cuStreamSynchronize(stream));
  float milliseconds = 0;
  SACCADE_CUDA(cuEventElapsedTime(&milliseconds, start.get(), end.get()));
  return milliseconds;
}

float median(std::vector<float>& times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

std::vector<std::chrono::nanoseconds> step_costs(CUstream stream, std::size_t count,
                                                 const std::function<GraphExec(std::size_t launches)>& graph_of) {
  std::vector<GraphExec> graphs;
  for (std::size_t launches = 0; launches <= count; ++launches) graphs.push_back(graph_of(launches));
  const Event start = make_event(CU_EVENT_DEFAULT);
  const Event end = make_event(CU_EVENT_DEFAULT);
  std::vector<std::vector<float>> times(graphs.size());
  // Clocks drift, so graphs are timed round-robin. The first round warms up.
  for (int round = 0; round <= kRounds; ++round)
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const float time = time_of(graphs[i].get(), stream, start, end);
      if (round != 0) times[i].push_back(time);
    }
  std::vector<std::chrono::nanoseconds> costs;
  float before = median(times[0]);
  for (std::size_t i = 1; i < times.size(); ++i) {
    // A longer graph that seems faster is noise; the difference is taken from the next one.
    const float until = std::max(before, median(times[i]));
    const std::chrono::duration<float, std::milli> cost(until - before);
    costs.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(cost));
    before = until;
  }
  return costs;
}

}  // namespace saccade::cuda
