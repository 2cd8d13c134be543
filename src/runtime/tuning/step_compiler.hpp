#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan.hpp"

namespace saccade {

/// Compiles single steps of a plan with other tactics and configurations. PLAN and BACKEND outlive it. Any thread.
class StepCompiler {
 public:
  StepCompiler(const Plan& plan, const Backend& backend) : plan_(plan), backend_(backend) {}

  const Plan& plan() const { return plan_; }
  const Backend& backend() const { return backend_; }
  NodeContext context_of(std::size_t step) const;
  /// The key of the step's node class.
  std::string fingerprint_of(std::size_t step) const;
  const Tactic& tactic_of(const TacticChoice& choice) const;
  /// Throws Error.
  std::unique_ptr<const Launch> launch_of(std::size_t step, const TacticChoice& choice) const;
  /// STEPS with CHOICE for those at AT. Throws Error.
  std::vector<Step> replace(std::vector<Step> steps, std::span<const std::size_t> at, const TacticChoice& choice) const;

 private:
  const Plan& plan_;
  const Backend& backend_;
};

}  // namespace saccade
