#include "measure/limits/plan_times.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace saccade {
namespace {

constexpr int kPlanWarmUp = 3;
constexpr int kLeastRuns = 10;

/// Summarizes all times of one item; sorts them.
Timing timing_of(std::vector<Nanoseconds>& times) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  return {times.front(), times[times.size() / 2]};
}

/// The times of all runs, by item.
struct Samples {
  std::vector<std::vector<Nanoseconds>> steps;
  std::array<std::vector<Nanoseconds>, 3> stages;
  std::vector<Nanoseconds> whole;
};

void add_run(Samples& samples, const Execution& execution, std::span<const StepTime> times) {
  const std::vector<Step>& steps = execution.plan().steps();
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].launch) samples.steps[i].emplace_back(times[i].duration());
  Nanoseconds whole{};
  for (std::size_t stage = 0; stage < samples.stages.size(); ++stage) {
    samples.stages[stage].emplace_back(execution.stage_time(static_cast<Stage>(stage)));
    whole += samples.stages[stage].back();
  }
  samples.whole.push_back(whole);
}

}  // namespace

void fill_inputs(Execution& execution) {
  std::mt19937 generator(1);
  const auto inputs = execution.plan().graph().inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView view = execution.input(i);
    if (view.dtype == DType::kFrame || view.data == nullptr) continue;
    auto* bytes = static_cast<std::byte*>(view.data);
    if (view.dtype == DType::kFloat32) {
      for (float& element : view.as<float>()) element = static_cast<float>(generator() & 0xffff) / 65536.0F;
    } else if (view.dtype == DType::kInt64) {
      std::ranges::fill(view.as<std::int64_t>(), 1);
    } else if (view.dtype == DType::kInt32) {
      std::ranges::fill(view.as<std::int32_t>(), 1);
    } else if (view.dtype == DType::kUInt8 || view.dtype == DType::kInt8) {
      std::generate_n(bytes, view.bytes(), [&] { return static_cast<std::byte>(generator()); });
    } else {
      std::memset(bytes, 0, view.bytes());
    }
  }
}

PlanTimes time_plan(Execution& execution, double seconds, const std::function<void(double share)>& progress) {
  const std::size_t count = execution.plan().steps().size();
  std::vector<StepTime> times(count);
  Samples samples;
  samples.steps.resize(count);
  execution.plan().backend().prepare_thread(execution.plan().threads());
  execution.time_steps(times);
  for (int i = 0; i < kPlanWarmUp; ++i) execution.run();
  PlanTimes found;
  const auto start = Clock::now();
  for (double passed = 0; passed < seconds || found.runs < kLeastRuns; ++found.runs) {
    execution.run();
    add_run(samples, execution, times);
    passed = std::chrono::duration<double>(Clock::now() - start).count();
    if (progress) progress(std::min(1.0, passed / seconds));
  }
  execution.time_steps({});
  for (auto& step : samples.steps) found.steps.push_back(timing_of(step));
  for (std::size_t i = 0; i < samples.stages.size(); ++i) found.stages[i] = timing_of(samples.stages[i]);
  found.whole = timing_of(samples.whole);
  return found;
}

}  // namespace saccade
