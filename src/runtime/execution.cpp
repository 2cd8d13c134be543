#include <algorithm>

#include "base/error.hpp"
#include "ops/core/strided_copy.hpp"
#include "runtime/plan.hpp"

namespace saccade {
namespace {

/// The valid elements along an axis of SIZE elements.
std::int64_t valid(const TensorView& count, std::int64_t size) {
  const std::int64_t value =
      count.dtype == DType::kInt32 ? count.as<const std::int32_t>()[0] : count.as<const std::int64_t>()[0];
  return std::clamp<std::int64_t>(value, 0, size);
}

}  // namespace

Execution::Execution(std::shared_ptr<const Plan> plan)
    : plan_(std::move(plan)), runner_(plan_->backend().make_runner(*plan_)) {}

TensorView Execution::input(std::size_t i) const { return runner_->view(plan_->graph().inputs()[i]); }

TensorView Execution::output(std::size_t i) const { return runner_->view(plan_->graph().outputs()[i]); }

void Execution::time_steps(std::span<StepTime> times) {
  if (!times.empty() && times.size() != plan_->steps().size())
    fail(ErrorCode::kInvalidArgument, "there are {} times for {} steps", times.size(), plan_->steps().size());
  runner_->time_steps(times);
}

std::vector<Tensor> read_data_outputs(const Execution& execution) {
  const Graph& graph = execution.plan().graph();
  std::vector<Tensor> answers;
  for (std::size_t i = 0; i < graph.data_outputs().size(); ++i) {
    const TensorView view = execution.output(i);
    Shape shape = view.shape;
    for (const Extent& extent : graph.extents())
      if (extent.output == i) shape[extent.axis] = valid(execution.output(extent.count), view.shape[extent.axis]);
    strided_copy(view.dtype, shape, strided(view), strided(view_of(answers.emplace_back(view.dtype, shape))));
  }
  return answers;
}

}  // namespace saccade
