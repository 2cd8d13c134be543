#include "measure/limits/limits.hpp"

#include <algorithm>
#include <limits>

#include "measure/limits/noise_frame.hpp"
#include "pipeline/model/model_impl.hpp"

namespace saccade {
namespace {

void add_violation(std::vector<Violation>& found, const std::string& where, const Bound& bound, const Timing& timing,
                   double tolerance) {
  if (timing.least.count() <= 0 || timing.least >= bound.time * (1 - tolerance)) return;
  found.push_back({where, bound.time, timing.least, bound.limiter});
}

}  // namespace

CompiledModel compile_for_limits(const std::string& path, const ModelOptions& options) {
  const Model model = Model::load(path, options);
  if (!impl_of(model).is_recognised()) return {impl_of(model).tensor_plan(), false};
  return {impl_of(model).vision_plan().plan, true};
}

PlanTimes run_for_limits(const CompiledModel& model, const FrameSize& frame, double seconds,
                         const std::function<void(double share)>& progress) {
  Execution execution(model.plan);
  fill_inputs(execution);
  std::optional<NoiseFrame> noise;
  if (!execution.frames().empty()) std::ranges::fill(execution.frames(), noise.emplace(frame, 1).view());
  return time_plan(execution, seconds, progress);
}

std::vector<Violation> violations(const ModelLimits& limits, double tolerance) {
  std::vector<Violation> found;
  if (!limits.times) return found;
  const Graph& graph = limits.plan->graph();
  for (std::size_t i = 0; i < limits.bounds.steps.size(); ++i) {
    const Node& node = graph.node(limits.plan->steps()[i].node);
    add_violation(found, fmt::format("layer {} ({})", node.name, node.op), limits.bounds.steps[i],
                  limits.times->steps[i], tolerance);
  }
  for (std::size_t i = 0; i < limits.bounds.stages.size(); ++i)
    add_violation(found, fmt::format("stage {}", to_string(static_cast<Stage>(i))), limits.bounds.stages[i],
                  limits.times->stages[i], tolerance);
  add_violation(found, "whole", limits.bounds.whole, limits.times->whole, tolerance);
  std::ranges::sort(found, {}, [](const Violation& each) { return each.least / each.bound; });
  return found;
}

double closest_to_bound(const ModelLimits& limits) {
  double closest = std::numeric_limits<double>::infinity();
  if (!limits.times) return closest;
  for (std::size_t i = 0; i < limits.bounds.steps.size(); ++i)
    if (limits.bounds.steps[i].time.count() > 0 && limits.times->steps[i].least.count() > 0)
      closest = std::min(closest, limits.times->steps[i].least / limits.bounds.steps[i].time);
  return closest;
}

}  // namespace saccade
