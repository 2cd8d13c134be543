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

constexpr const char* kNoGpu = "the model does not run on a GPU, so that it can't take tensors in a GPU's memory";

}  // namespace

void Runner::enqueue(void* /*stream*/, std::span<const void* const> /*inputs*/, std::span<void* const> /*outputs*/) {
  fail(ErrorCode::kUnsupported, "{}", kNoGpu);
}

void Runner::use_device_tensors(std::span<const void* const> inputs, std::span<void* const> outputs) {
  const auto is_given = [](const void* address) { return address != nullptr; };
  if (std::ranges::any_of(inputs, is_given) || std::ranges::any_of(outputs, is_given))
    fail(ErrorCode::kUnsupported, "{}", kNoGpu);
}

Execution::Execution(std::shared_ptr<const Plan> plan)
    : plan_(std::move(plan)), runner_(plan_->backend().make_runner(*plan_)) {}

TensorView Execution::input(std::size_t i) const { return runner_->view(plan_->graph().inputs()[i]); }

TensorView Execution::output(std::size_t i) const { return runner_->view(plan_->graph().outputs()[i]); }

void Execution::time_steps(std::span<StepTime> times) {
  if (!times.empty() && times.size() != plan_->steps().size())
    fail(ErrorCode::kInvalidArgument, "there are {} times for {} steps", times.size(), plan_->steps().size());
  runner_->time_steps(times);
}

Shape data_output_shape(const Execution& execution, std::size_t i) {
  const Shape capacity = execution.output(i).shape;
  Shape shape = capacity;
  for (const Extent& extent : execution.plan().graph().extents())
    if (extent.output == i) shape[extent.axis] = valid(execution.output(extent.count), capacity[extent.axis]);
  return shape;
}

void read_data_output(const Execution& execution, std::size_t i, const TensorView& to) {
  const TensorView view = execution.output(i);
  strided_copy(view.dtype, to.shape, strided(view), strided(to));
}

std::vector<Tensor> read_data_outputs(const Execution& execution) {
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < execution.plan().graph().data_outputs().size(); ++i) {
    Tensor& output = outputs.emplace_back(execution.output(i).dtype, data_output_shape(execution, i));
    read_data_output(execution, i, view_of(output));
  }
  return outputs;
}

}  // namespace saccade
