#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <thread>

#include "base/error.hpp"
#include "ops/strided_copy.hpp"
#include "runtime/plan.hpp"

namespace saccade {
namespace {

constexpr std::align_val_t kAlignment{64};
// Vector kernels may read (never use) up to one vector past a tensor's end.
constexpr std::size_t kSlack = 64;

struct ArenaDeleter {
  void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
};

}  // namespace

struct Execution::State {
  std::unique_ptr<std::byte, ArenaDeleter> arena;
  FrameView frame;
  bool has_frame = false;
  std::vector<TensorView> views;                       // by value
  std::vector<std::unique_ptr<BoundLaunch>> launches;  // by step; null: a view
  std::array<std::chrono::nanoseconds, 3> stage_times{};
  std::span<StepTime> step_times;  // empty: nobody asks
  std::thread::id prepared;

  TensorView view(const Plan& plan, ValueId id) {
    if (id == ValueId::kNone) return {};
    const Slot& slot = plan.slots()[static_cast<std::size_t>(id)];
    const Value& value = plan.graph().value(id);
    TensorView result{.dtype = value.type.dtype, .layout = value.layout, .shape = value.type.shape};
    switch (slot.kind) {
      case Slot::Kind::kUnused: break;
      case Slot::Kind::kArena: result.data = arena.get() + slot.offset; break;
      case Slot::Kind::kConstant: result.data = view_of(*plan.graph().constant(slot.root)).data; break;
      case Slot::Kind::kFrame: result.data = &frame; break;
    }
    return result;
  }

  void bind(const Plan& plan, const Step& step) {
    if (!step.launch) {
      launches.emplace_back();
      return;
    }
    const Node& node = plan.graph().node(step.node);
    const auto collect = [&](const std::vector<ValueId>& ids) {
      std::vector<TensorView> found;
      found.reserve(ids.size());
      for (ValueId id : ids) found.push_back(id == ValueId::kNone ? TensorView{} : views[static_cast<std::size_t>(id)]);
      return found;
    };
    const auto inputs = collect(node.inputs);
    const auto outputs = collect(node.outputs);
    launches.push_back(step.launch->bind({inputs, outputs, arena.get() + step.scratch_offset}));
  }
};

Execution::Execution(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)), state_(std::make_unique<State>()) {
  state_->arena.reset(static_cast<std::byte*>(::operator new(plan_->arena_bytes() + kSlack, kAlignment)));
  const std::size_t values = plan_->graph().value_count();
  for (std::size_t i = 0; i < values; ++i) state_->views.push_back(state_->view(*plan_, static_cast<ValueId>(i)));
  for (const Slot& slot : plan_->slots()) state_->has_frame |= slot.kind == Slot::Kind::kFrame;
  for (const Step& step : plan_->steps()) state_->bind(*plan_, step);
}

Execution::~Execution() {
  if (state_ && state_->prepared == std::this_thread::get_id()) plan_->backend().release_thread();
}
Execution::Execution(Execution&&) noexcept = default;
Execution& Execution::operator=(Execution&&) noexcept = default;

TensorView Execution::input(std::size_t i) const {
  return state_->views[static_cast<std::size_t>(plan_->graph().inputs()[i])];
}

TensorView Execution::output(std::size_t i) const {
  return state_->views[static_cast<std::size_t>(plan_->graph().outputs()[i])];
}

FrameView* Execution::frame() const { return state_->has_frame ? &state_->frame : nullptr; }

void Execution::poison() { std::memset(state_->arena.get(), 0xFF, plan_->arena_bytes()); }

void Execution::run() {
  State& state = *state_;
  // A thread's settings (its number of workers) are its own; executions may move between threads.
  if (state.prepared != std::this_thread::get_id()) {
    plan_->backend().prepare_thread(plan_->threads());
    state.prepared = std::this_thread::get_id();
  }
  state.stage_times.fill({});
  const std::vector<Step>& steps = plan_->steps();
  Stage stage = Stage::kPre;
  auto stage_start = Clock::now();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!state.launches[i]) continue;
    if (steps[i].stage != stage) {
      const auto now = Clock::now();
      state.stage_times[static_cast<std::size_t>(stage)] += now - stage_start;
      stage = steps[i].stage;
      stage_start = now;
    }
    if (state.step_times.empty()) {
      state.launches[i]->run();
    } else {
      state.step_times[i].start = Clock::now();
      state.launches[i]->run();
      state.step_times[i].end = Clock::now();
    }
  }
  state.stage_times[static_cast<std::size_t>(stage)] += Clock::now() - stage_start;
}

void Execution::time_steps(std::span<StepTime> times) {
  if (!times.empty() && times.size() != plan_->steps().size())
    fail(ErrorCode::kInvalidArgument, "there are {} times for {} steps", times.size(), plan_->steps().size());
  state_->step_times = times;
}

std::chrono::nanoseconds Execution::stage_time(Stage stage) const {
  return state_->stage_times[static_cast<std::size_t>(stage)];
}

std::vector<Tensor> read_answers(const Execution& execution) {
  const Graph& graph = execution.plan().graph();
  std::vector<Tensor> answers;
  for (std::size_t i = 0; i < graph.answers().size(); ++i) {
    const TensorView view = execution.output(i);
    Shape shape = view.shape;
    for (const Extent& extent : graph.extents())
      if (extent.output == i)
        shape[extent.axis] = std::clamp<std::int64_t>(execution.output(extent.count).as<const std::int64_t>()[0], 0,
                                                      view.shape[extent.axis]);
    strided_copy(view.dtype, shape, strided(view), strided(view_of(answers.emplace_back(view.dtype, shape))));
  }
  return answers;
}

}  // namespace saccade
