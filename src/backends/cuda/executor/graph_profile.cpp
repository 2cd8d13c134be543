#include <algorithm>

#include "cuda/driver/capture.hpp"
#include "cuda/executor/graph_executor.hpp"
#include "cuda/executor/step_costs.hpp"

// Profiles of a GraphExecutor: events between launches, or marginal costs within the graph.
namespace saccade::cuda {

void GraphExecutor::time_steps(std::span<StepTime> times) {
  times_ = times;
  device_.make_current();
  for (std::size_t i = events_.size(); !times.empty() && i <= launches_.size(); ++i)
    events_.push_back(make_event(CU_EVENT_DEFAULT));
}

void GraphExecutor::record(const Event& event) { SACCADE_CUDA(cuEventRecord(event.get(), queue_.stream.get())); }

/// Measures what each launch adds to the graph.
void GraphExecutor::measure_costs() {
  const auto graph_of = [this](std::size_t count) {
    return capture(queue_.stream.get(), plan_.graph().name, [&] {
      if (!on_device_) upload_->enqueue(queue_.stream.get());
      for (std::size_t i = 0, launched = 0; launched < count; ++i) {
        if (launches_[i]) launch(i);
        launched += launches_[i] ? 1 : 0;
      }
    });
  };
  const auto is_launch = [](const auto& launch) { return launch != nullptr; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(launches_, is_launch));
  const auto costs = step_costs(queue_.stream.get(), count, graph_of);
  costs_.resize(launches_.size());
  for (std::size_t i = 0, launched = 0; i < launches_.size(); ++i)
    if (launches_[i]) costs_[i] = costs[launched++];
  start_ = Clock::now();
}

/// Reports the launches of a run as if they ran one after the other, each for its measured cost.
void GraphExecutor::report_costs() {
  stage_times_.fill({});
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (!launches_[i]) continue;
    running_times_[i] = {start_, start_ + costs_[i]};
    start_ = running_times_[i].end;
    stage_times_[static_cast<std::size_t>(plan_.steps()[i].stage)] += costs_[i];
  }
}

void GraphExecutor::read_times() {
  stage_times_.fill({});
  Clock::time_point before = start_;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    float milliseconds = 0;
    SACCADE_CUDA(cuEventElapsedTime(&milliseconds, events_.back().get(), events_[i].get()));
    const auto since = std::chrono::duration<float, std::milli>(milliseconds);
    const auto end = start_ + std::chrono::duration_cast<std::chrono::nanoseconds>(since);
    if (launches_[i]) running_times_[i] = {before, end};
    stage_times_[static_cast<std::size_t>(plan_.steps()[i].stage)] += end - before;
    before = end;
  }
}

}  // namespace saccade::cuda
