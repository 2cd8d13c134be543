#include "runtime/tuning/progress.hpp"

#include <algorithm>

namespace saccade {

void ProgressCounter::report(std::size_t count) const {
  if (!options_.on_progress || total_ == 0) return;
  const double share = std::min(1.0, static_cast<double>(done_ + count) / static_cast<double>(total_));
  const auto elapsed = Clock::now() - start_;
  const auto left = std::chrono::duration<double>(elapsed) * ((1 - share) / std::max(share, 1e-3));
  options_.on_progress({.share = share, .left = std::chrono::duration_cast<std::chrono::nanoseconds>(left)});
}

}  // namespace saccade
