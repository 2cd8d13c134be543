#include "runtime/host_variant.hpp"

#include <algorithm>
#include <numeric>

namespace saccade {
namespace {

/// Launches run one at a time.
std::size_t scratch_bytes(std::span<const Step> steps) {
  std::size_t most = 0;
  for (const Step& step : steps)
    if (step.launch) most = std::max(most, step.launch->scratch_bytes());
  return most;
}

}  // namespace

HostVariant::HostVariant(const Plan& plan, std::span<const Step> steps, const Bind& bind)
    : plan_(plan), steps_(steps.begin(), steps.end()), scratch_(scratch_bytes(steps)), least_(steps.size()) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    launches_.push_back(steps_[i].launch ? bind(steps_[i], scratch_.data()) : nullptr);
    if (launches_[i]) least_[i] = std::chrono::nanoseconds::max();
  }
}

std::chrono::nanoseconds HostVariant::time(int runs) {
  plan_.backend().prepare_thread(plan_.threads());
  for (int run = 0; run < runs; ++run) {
    auto start = Clock::now();
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (!launches_[i]) continue;
      launches_[i]->run();
      const auto end = Clock::now();
      least_[i] = std::min(least_[i], std::chrono::nanoseconds(end - start));
      start = end;
    }
  }
  return std::accumulate(least_.begin(), least_.end(), std::chrono::nanoseconds{});
}

}  // namespace saccade
