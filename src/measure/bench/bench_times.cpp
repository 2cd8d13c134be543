#include "measure/bench/bench_times.hpp"

#include <algorithm>
#include <functional>

#include "graph/graph.hpp"

namespace saccade {
namespace {

SlowRuns slow_runs(std::span<const std::chrono::nanoseconds> latencies, std::chrono::nanoseconds median) {
  constexpr std::size_t kMost = 10;
  SlowRuns slow;
  for (std::size_t i = 0; i < latencies.size(); ++i)
    if (static_cast<double>(latencies[i].count()) > SlowRuns::kSlow * static_cast<double>(median.count()))
      slow.slowest.push_back({static_cast<std::int64_t>(i), latencies[i]});
  slow.count = static_cast<std::int64_t>(slow.slowest.size());
  std::ranges::stable_sort(slow.slowest, std::greater(), &SlowRuns::Run::time);
  slow.slowest.resize(std::min(kMost, slow.slowest.size()));
  return slow;
}

}  // namespace

void set_times(EngineTimes& times, std::span<const Series> loads, int batch) {
  const Series all = joined(loads);
  const std::vector<std::chrono::nanoseconds> latencies = all.latencies();
  times.latency = distribution_of(latencies);
  times.slow = slow_runs(latencies, times.latency.p50);
  times.block_medians_ms.clear();
  for (const Series& load : loads) times.block_medians_ms.push_back(load.medians_ms());
  times.median_ms = repeated_median(times.block_medians_ms);
  times.throughput = all.throughput() * batch;
  times.warm_up = all.warm_up;
  times.unmeasured = all.unmeasured;
}

std::vector<StageSummary> stages_of(std::span<const Series> loads) {
  const Series all = joined(loads);
  std::vector<StageSummary> stages;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::chrono::nanoseconds> times;
    for (const Block& block : all.blocks) times.insert(times.end(), block.stages[i].begin(), block.stages[i].end());
    stages.push_back({std::string(to_string(static_cast<Stage>(i))), distribution_of(times)});
  }
  return stages;
}

const PeerTimes* BenchedModel::best_peer() const {
  const PeerTimes* best = nullptr;
  for (const PeerTimes& peer : peers)
    if (peer.failure.empty() && (best == nullptr || peer.times.median_ms.value < best->times.median_ms.value))
      best = &peer;
  return best;
}

bool BenchedModel::agrees() const {
  return std::ranges::all_of(peers, [](const PeerTimes& peer) { return !peer.failure.empty() || peer.agrees; });
}

std::optional<Estimate> geometric_mean(std::span<const BenchedModel> models, std::string_view engine) {
  std::vector<std::pair<std::vector<double>, std::vector<double>>> medians;
  for (const BenchedModel& model : models) {
    const PeerTimes* best = model.best_peer();
    for (const PeerTimes& peer : model.peers)
      if (peer.failure.empty() && (engine.empty() ? &peer == best : peer.times.engine == engine))
        medians.emplace_back(flattened(model.own.block_medians_ms), flattened(peer.times.block_medians_ms));
  }
  if (medians.empty()) return std::nullopt;
  std::vector<BlockPair> pairs;
  pairs.reserve(medians.size());
  for (const auto& [ours, theirs] : medians) pairs.push_back({ours, theirs});
  return geometric_mean_ratio(pairs);
}

}  // namespace saccade
