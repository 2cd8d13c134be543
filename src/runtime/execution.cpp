#include <algorithm>

#include "base/error.hpp"
#include "ops/core/strided_copy.hpp"
#include "runtime/plan.hpp"

namespace saccade {

Execution::Execution(std::shared_ptr<const Plan> plan)
    : plan_(std::move(plan)), runner_(plan_->backend().make_runner(*plan_)) {}

TensorView Execution::input(std::size_t i) const { return runner_->view(plan_->graph().inputs()[i]); }

TensorView Execution::output(std::size_t i) const { return runner_->view(plan_->graph().outputs()[i]); }

void Execution::time_steps(std::span<StepTime> times) {
  if (!times.empty() && times.size() != plan_->steps().size())
    fail(ErrorCode::kInvalidArgument, "there are {} times for {} steps", times.size(), plan_->steps().size());
  runner_->time_steps(times);
}

Shape answer_shape(const Execution& execution, std::size_t i) {
  const Shape capacity = execution.output(i).shape;
  Shape shape = capacity;
  for (const Extent& extent : execution.plan().graph().extents())
    if (extent.output == i)
      shape[extent.axis] = std::clamp<std::int64_t>(execution.output(extent.count).as<const std::int64_t>()[0], 0,
                                                    capacity[extent.axis]);
  return shape;
}

void read_answer(const Execution& execution, std::size_t i, const TensorView& to) {
  const TensorView view = execution.output(i);
  strided_copy(view.dtype, to.shape, strided(view), strided(to));
}

std::vector<Tensor> read_answers(const Execution& execution) {
  std::vector<Tensor> answers;
  for (std::size_t i = 0; i < execution.plan().graph().answers().size(); ++i) {
    Tensor& answer = answers.emplace_back(execution.output(i).dtype, answer_shape(execution, i));
    read_answer(execution, i, view_of(answer));
  }
  return answers;
}

}  // namespace saccade
