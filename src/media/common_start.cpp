#include "media/common_start.hpp"

#include <chrono>

namespace saccade {

void CommonStart::expect() {
  const std::scoped_lock lock(mutex_);
  ++expected_;
}

double CommonStart::arrive() {
  const std::scoped_lock lock(mutex_);
  const double place = static_cast<double>(arrived_) / expected_;
  if (++arrived_ == expected_) changed_.notify_all();
  return place;
}

void CommonStart::wait(const std::atomic<bool>& cancelled) {
  constexpr std::chrono::minutes kLongest(1);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kLongest, [&] { return arrived_ == expected_ || cancelled; });
}

void CommonStart::wake() noexcept {
  { const std::scoped_lock lock(mutex_); }
  changed_.notify_all();
}

}  // namespace saccade
