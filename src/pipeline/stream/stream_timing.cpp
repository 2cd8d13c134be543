#include "pipeline/stream/stream_timing.hpp"

namespace saccade {

void StreamTiming::add(const Latency& latency) noexcept {
  stages_.add(latency);
  if (recent_ != nullptr) recent_->add(latency);
  if (period_.count() > 0 && latency.total > period_) ++late_;
}

void StreamTiming::finish_frame(Clock::time_point time) noexcept {
  if (frames_++ == 0) first_ = time;
  last_ = time;
}

std::optional<std::int64_t> StreamTiming::late() const {
  if (period_.count() == 0) return {};
  return late_;
}

double StreamTiming::rate() const {
  const double seconds = std::chrono::duration<double>(last_ - first_).count();
  return frames_ > 1 && seconds > 0 ? static_cast<double>(frames_ - 1) / seconds : 0;
}

std::vector<StageSummary> StreamTiming::take_recent() {
  std::vector<StageSummary> summary = recent_ == nullptr ? stages_.summarize() : recent_->summarize();
  if (recent_ == nullptr) recent_ = std::make_unique<StageTimes>();
  recent_->clear();
  return summary;
}

}  // namespace saccade
