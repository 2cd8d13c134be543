#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "graph/print.hpp"
#include "runtime/host_variant.hpp"
#include "runtime/plan.hpp"
#include "runtime/runner.hpp"

namespace saccade {
namespace {

// Vector kernels may read (never use) up to one vector past a tensor's end.
constexpr std::size_t kSlack = 64;

class HostRunner : public Runner {
 public:
  explicit HostRunner(const Plan& plan) : plan_(plan), arena_(plan.arena_bytes() + kSlack) {
    const std::size_t values = plan.graph().value_count();
    frames_.resize(static_cast<std::size_t>(std::ranges::count(plan.slots(), Slot::Kind::kFrame, &Slot::kind)));
    for (std::size_t i = 0; i < values; ++i) views_.push_back(locate(static_cast<ValueId>(i)));
    for (const Step& step : plan.steps()) bind(step);
  }

  TensorView view(ValueId id) const override { return views_[static_cast<std::size_t>(id)]; }
  std::span<FrameView> frames() override { return frames_; }
  void poison() override { std::memset(arena_.data(), 0xFF, plan_.arena_bytes()); }
  void leave_on_device(bool) override {}
  void time_steps(std::span<StepTime> times) override { step_times_ = times; }
  std::chrono::nanoseconds stage_time(Stage stage) const override {
    return stage_times_[static_cast<std::size_t>(stage)];
  }

  std::unique_ptr<Variant> make_variant(std::span<const Step> steps) override {
    return std::make_unique<HostVariant>(plan_, steps,
                                         [this](const Step& step, std::byte* scratch) { return bound(step, scratch); });
  }

  void submit() override {}
  void wait() override {
    // The number of workers is a setting of the thread, which other executions share, and executions may move.
    plan_.backend().prepare_thread(plan_.threads());
    if (run_all(&BoundLaunch::run)) return;
    // Fast kernels may have lost a NaN: the run is repeated with kernels that keep it.
    run_all(&BoundLaunch::run_keeping_nan);
  }

 private:
  using Run = void (BoundLaunch::*)();

  /// Runs every launch by WAY. Stops and returns false if a NaN may have been lost.
  bool run_all(Run way) {
    stage_times_.fill({});
    const std::vector<Step>& steps = plan_.steps();
    Stage stage = Stage::kPre;
    auto stage_start = Clock::now();
    std::size_t i = 0;
    bool is_done = false;
    try {
      is_done = run_steps(way, i, stage, stage_start);
    } catch (const Error& error) {  // an index out of range: kernels don't know names
      throw error.in(describe(plan_.graph().node(steps[i].node)));
    }
    stage_times_[static_cast<std::size_t>(stage)] += Clock::now() - stage_start;
    return is_done;
  }

  /// As run_all(); I is the current launch.
  bool run_steps(Run way, std::size_t& i, Stage& stage, Clock::time_point& stage_start) {
    const std::vector<Step>& steps = plan_.steps();
    for (; i < steps.size(); ++i) {
      if (!launches_[i]) continue;
      if (steps[i].stage != stage) {
        const auto now = Clock::now();
        stage_times_[static_cast<std::size_t>(stage)] += now - stage_start;
        stage = steps[i].stage;
        stage_start = now;
      }
      if (step_times_.empty()) {
        (*launches_[i].*way)();
      } else {
        step_times_[i].start = Clock::now();
        (*launches_[i].*way)();
        step_times_[i].end = Clock::now();
      }
      if (i + 1 == ask_at_ && plan_.backend().met_nan() && way == &BoundLaunch::run) return false;
    }
    return true;
  }

  TensorView locate(ValueId id) {
    const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
    const Value& value = plan_.graph().value(id);
    TensorView result{.dtype = value.type.dtype, .layout = value.layout, .shape = value.type.shape};
    switch (slot.kind) {
      case Slot::Kind::kUnused: break;
      case Slot::Kind::kArena: result.data = arena_.data() + slot.offset; break;
      case Slot::Kind::kConstant: result.data = view_of(*plan_.graph().constant(slot.root)).data; break;
      case Slot::Kind::kFrame: result.data = &frames_[slot.offset]; break;
    }
    return result;
  }

  void bind(const Step& step) {
    if (!step.launch) {
      launches_.emplace_back();
      return;
    }
    launches_.push_back(bound(step, arena_.data() + step.scratch_offset));
    if (launches_.back()->may_lose_nan()) ask_at_ = launches_.size();
  }

  std::unique_ptr<BoundLaunch> bound(const Step& step, std::byte* scratch) const {
    const Node& node = plan_.graph().node(step.node);
    const auto collect = [&](const std::vector<ValueId>& ids) {
      std::vector<TensorView> found;
      found.reserve(ids.size());
      for (ValueId id : ids) found.push_back(id == ValueId::kNone ? TensorView{} : view(id));
      return found;
    };
    const auto inputs = collect(node.inputs);
    const auto outputs = collect(node.outputs);
    return step.launch->bind({.inputs = inputs, .outputs = outputs, .scratch = scratch});
  }

  const Plan& plan_;
  HostMemory arena_;
  std::vector<FrameView> frames_;
  std::vector<TensorView> views_;                       // by value
  std::vector<std::unique_ptr<BoundLaunch>> launches_;  // by step; null: a view
  std::size_t ask_at_ = 0;  // after the last launch that may lose a NaN, while its threads are awake
  std::array<std::chrono::nanoseconds, 3> stage_times_{};
  std::span<StepTime> step_times_;  // empty: not requested
};

}  // namespace

std::unique_ptr<Runner> make_host_runner(const Plan& plan) { return std::make_unique<HostRunner>(plan); }

}  // namespace saccade
