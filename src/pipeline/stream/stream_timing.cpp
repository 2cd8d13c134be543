#include "pipeline/stream/stream_timing.hpp"

#include <utility>

namespace saccade {

void StreamTiming::add(const Latency& latency) noexcept {
  const std::scoped_lock lock(mutex_);
  stages_.add(latency);
  if (recent_ != nullptr) recent_->add(latency);
  // What a sensor and a network take before the capture keeps no frame waiting.
  const auto since_capture = latency.total - latency.sensor.value_or(std::chrono::nanoseconds(0));
  if (period_.count() > 0 && since_capture > period_) ++late_;
}

void StreamTiming::finish_frame(Clock::time_point time) noexcept {
  const std::scoped_lock lock(mutex_);
  if (frames_++ == 0) first_ = time;
  last_ = time;
}

std::unique_ptr<StageTimes> StreamTiming::stages() const {
  auto copy = std::make_unique<StageTimes>();
  const std::scoped_lock lock(mutex_);
  *copy = stages_;
  return copy;
}

std::optional<std::int64_t> StreamTiming::late() const {
  if (period_.count() == 0) return {};
  const std::scoped_lock lock(mutex_);
  return late_;
}

double StreamTiming::rate() const {
  const std::scoped_lock lock(mutex_);
  const double seconds = std::chrono::duration<double>(last_ - first_).count();
  return frames_ > 1 && seconds > 0 ? static_cast<double>(frames_ - 1) / seconds : 0;
}

std::vector<StageSummary> StreamTiming::take_recent() {
  auto recent = std::make_unique<StageTimes>();
  {
    // No longer than necessary: the models may wait for it.
    const std::scoped_lock lock(mutex_);
    std::swap(recent, recent_);
    if (recent == nullptr) recent = std::make_unique<StageTimes>(stages_);
  }
  return recent->summarize();
}

}  // namespace saccade
