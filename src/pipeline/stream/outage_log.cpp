#include "pipeline/stream/outage_log.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saccade {
namespace {

constexpr std::size_t kLatest = 16;

void add(Outages& outages, const Outage& outage) {
  if (outage.start.count() == 0) outages.before_first = outage.duration;
  ++outages.count;
  outages.duration += outage.duration;
  outages.missed += outage.missed;
  if (outages.latest.size() == kLatest) outages.latest.erase(outages.latest.begin());
  outages.latest.push_back(outage);
}

}  // namespace

Outage OutageLog::ongoing(Clock::time_point now) const {
  const std::chrono::nanoseconds duration = now - last_;
  const double frames = std::chrono::duration<double>(duration).count() * rate_;
  // One frame period after the last frame is no gap.
  return {.start = last_ - start_, .duration = duration, .missed = std::max<std::int64_t>(std::llround(frames) - 1, 0)};
}

std::optional<std::chrono::nanoseconds> OutageLog::end(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  std::optional<std::chrono::nanoseconds> duration;
  if (std::exchange(out_, false)) {
    Outage over = ongoing(now);
    over.is_over = true;
    add(past_, over);
    duration = over.duration;
  }
  last_ = now;
  return duration;
}

void OutageLog::close(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(out_, false)) add(past_, ongoing(now));
}

bool OutageLog::begin() {
  const std::scoped_lock lock(mutex_);
  return !std::exchange(out_, true);
}

bool OutageLog::is_out() const {
  const std::scoped_lock lock(mutex_);
  return out_;
}

Outages OutageLog::snapshot(Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  Outages outages = past_;
  if (out_) add(outages, ongoing(now));
  return outages;
}

}  // namespace saccade
