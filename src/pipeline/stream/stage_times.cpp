#include "pipeline/stream/stage_times.hpp"

namespace saccade {
namespace {

/// Who does the work of a stage, for the bottleneck.
enum class Work : std::uint8_t { kNone, kSource, kModel };

struct Row {
  std::string_view name;
  std::optional<std::chrono::nanoseconds> (*time)(const Latency& latency);
  Work work;
  bool is_optional = false;  ///< without samples the stage is unknown
};

template <auto Member>
std::optional<std::chrono::nanoseconds> stage(const Latency& latency) {
  return latency.*Member;
}

constexpr std::array kRows = {
    Row{"sensor", stage<&Latency::sensor>, Work::kNone, true}, Row{"capture", stage<&Latency::capture>, Work::kSource},
    Row{"queue", stage<&Latency::queue>, Work::kNone},         Row{"pre", stage<&Latency::pre>, Work::kModel},
    Row{"model", stage<&Latency::model>, Work::kModel},        Row{"post", stage<&Latency::post>, Work::kModel},
    Row{"total", stage<&Latency::total>, Work::kNone}};

}  // namespace

Distribution distribution_of(const Histogram& histogram) {
  Distribution distribution{.count = histogram.count(),
                            .min = histogram.min(),
                            .mean = histogram.mean(),
                            .deviation = histogram.deviation(),
                            .p50 = histogram.percentile(50),
                            .p90 = histogram.percentile(90),
                            .p95 = histogram.percentile(95),
                            .p99 = histogram.percentile(99),
                            .p999 = histogram.percentile(99.9),
                            .max = histogram.max(),
                            .sum = histogram.sum()};
  histogram.visit([&](const Histogram::Bucket& bucket) {
    // By its lower end: the upper one may move with the longest sample, and a count would become smaller.
    for (std::size_t i = kLatencyBounds.size(); i > 0 && bucket.low <= kLatencyBounds[i - 1]; --i)
      distribution.at_most[i - 1] += bucket.count;
  });
  return distribution;
}

void StageTimes::add(const Latency& latency) noexcept {
  static_assert(kRows.size() == kStages);
  for (std::size_t i = 0; i < kStages; ++i)
    if (const auto time = kRows[i].time(latency)) times_[i].add(*time);
}

void StageTimes::add(const StageTimes& other) noexcept {
  for (std::size_t i = 0; i < kStages; ++i) times_[i].add(other.times_[i]);
}

void StageTimes::clear() noexcept {
  for (Histogram& each : times_) each.clear();
}

std::vector<StageSummary> StageTimes::summarize() const {
  std::vector<StageSummary> summaries;
  for (std::size_t i = 0; i < kStages; ++i)
    if (!kRows[i].is_optional || times_[i].count() > 0)
      summaries.push_back({std::string(kRows[i].name), distribution_of(times_[i])});
  return summaries;
}

std::string StageTimes::bottleneck(std::size_t streams, double models) const {
  if (total().count() == 0) return {};
  std::string_view slowest;
  double most = -1;
  for (std::size_t i = 0; i < kStages; ++i) {
    if (kRows[i].work == Work::kNone) continue;
    // Streams capture concurrently; every frame runs through all models sequentially.
    const double share = kRows[i].work == Work::kSource ? 1 / static_cast<double>(streams) : models;
    const double time = share * static_cast<double>(times_[i].mean().count());
    if (time <= most) continue;
    most = time;
    slowest = kRows[i].name;
  }
  return std::string(slowest);
}

}  // namespace saccade
