#include "pipeline/stream/stage_times.hpp"

#include <algorithm>
#include <array>

namespace saccade {

Distribution distribution_of(const Histogram& histogram) {
  return {.count = histogram.count(),
          .min = histogram.min(),
          .mean = histogram.mean(),
          .deviation = histogram.deviation(),
          .p50 = histogram.percentile(50),
          .p90 = histogram.percentile(90),
          .p95 = histogram.percentile(95),
          .p99 = histogram.percentile(99),
          .p999 = histogram.percentile(99.9),
          .max = histogram.max()};
}

void StageTimes::add(const Latency& latency) noexcept {
  capture_.add(latency.capture);
  queue_.add(latency.queue);
  pre_.add(latency.pre);
  model_.add(latency.model);
  post_.add(latency.post);
  total_.add(latency.total);
}

void StageTimes::add(const StageTimes& other) noexcept {
  capture_.add(other.capture_);
  queue_.add(other.queue_);
  pre_.add(other.pre_);
  model_.add(other.model_);
  post_.add(other.post_);
  total_.add(other.total_);
}

void StageTimes::clear() noexcept {
  for (Histogram* each : {&capture_, &queue_, &pre_, &model_, &post_, &total_}) each->clear();
}

std::vector<StageSummary> StageTimes::summarize() const {
  return {{"capture", distribution_of(capture_)}, {"queue", distribution_of(queue_)},
          {"pre", distribution_of(pre_)},         {"model", distribution_of(model_)},
          {"post", distribution_of(post_)},       {"total", distribution_of(total_)}};
}

std::string StageTimes::bottleneck(std::size_t streams, std::size_t models) const {
  if (total_.count() == 0) return {};
  struct Share {
    const char* name;
    double time;
  };
  // Streams capture concurrently; every frame runs through all models sequentially.
  const auto frame_time = [models](const Histogram& stage) {
    return static_cast<double>(stage.mean().count()) * static_cast<double>(models);
  };
  const std::array shares = {
      Share{"capture", static_cast<double>(capture_.mean().count()) / static_cast<double>(streams)},
      Share{"pre", frame_time(pre_)}, Share{"model", frame_time(model_)}, Share{"post", frame_time(post_)}};
  return std::ranges::max_element(shares, {}, &Share::time)->name;
}

}  // namespace saccade
