#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/host_memory.hpp"
#include "runtime/plan.hpp"

namespace saccade {

/// A plan with other launches, timed on the tensors of its runner.
class HostVariant : public Variant {
 public:
  using Bind = std::function<std::unique_ptr<BoundLaunch>(const Step& step, std::byte* scratch)>;

  HostVariant(const Plan& plan, std::span<const Step> steps, const Bind& bind);
  /// The sum of step_times().
  std::chrono::nanoseconds time(int runs) override;
  std::span<const std::chrono::nanoseconds> step_times() const override { return least_; }

 private:
  const Plan& plan_;
  std::vector<Step> steps_;
  HostMemory scratch_;
  std::vector<std::unique_ptr<BoundLaunch>> launches_;  // by step; null: a view
  std::vector<std::chrono::nanoseconds> least_;
};

}  // namespace saccade
