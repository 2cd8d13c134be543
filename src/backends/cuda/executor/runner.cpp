#include "cuda/executor/runner.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/driver/capture.hpp"
#include "cuda/executor/run_group.hpp"
#include "cuda/executor/step_costs.hpp"
#include "cuda/executor/variant.hpp"
#include "graph/print.hpp"
#include "ops/core/op.hpp"

namespace saccade::cuda {
namespace {

constexpr std::size_t kOutputAlignment = 256;

/// What counts the rows of ID that are specified; kNone: all are.
ValueId row_count_of(const Graph& graph, ValueId id) {
  const Node* node = graph.producer(id);
  if (node == nullptr) return ValueId::kNone;
  return row_count(*node, static_cast<std::size_t>(std::ranges::find(node->outputs, id) - node->outputs.begin()));
}

}  // namespace

DeviceRunner::DeviceRunner(Device& device, const Plan& plan, bool graph) : device_(device), plan_(plan), graph_(graph) {
  device.make_current();
  queue_.stream = make_stream();
  arena_ = DeviceMemory(plan.arena_bytes());
  for (ValueId id : plan.graph().inputs()) stage_input(id);
  for (ValueId id : plan.graph().outputs()) stage_output(id);
  launches_ = bind(plan.steps(), arena_.pointer(), queue_);
  upload_.emplace(device, this->inputs(), queue_.readers);
  results_.emplace(device, outputs_);
  if (graph) executable_ = capture(queue_.stream.get(), plan.graph().name, [this] { enqueue(); });
}

DeviceRunner::~DeviceRunner() {
  static_cast<void>(driver().cuCtxSetCurrent(device_.context()));
  static_cast<void>(driver().cuStreamSynchronize(queue_.stream.get()));
}

TensorView DeviceRunner::device_view(ValueId id) {
  if (id == ValueId::kNone) return {};
  const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
  const Value& value = plan_.graph().value(id);
  TensorView result{.dtype = value.type.dtype, .layout = value.layout, .shape = value.type.shape};
  // A frame is read where the host has it.
  if (slot.kind == Slot::Kind::kArena) result.data = arena_.pointer() + slot.offset;
  if (slot.kind == Slot::Kind::kFrame) result.data = &frame_;
  if (slot.kind == Slot::Kind::kConstant) result.data = view_of(*plan_.graph().constant(slot.root)).data;
  return result;
}

/// Constants are each launch's own, but for one that is renamed, which no launch knows as a constant.
TensorView DeviceRunner::input_view(ValueId id) {
  TensorView result = device_view(id);
  if (id == ValueId::kNone || plan_.graph().constant(id) != nullptr) return result;
  const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
  if (slot.kind != Slot::Kind::kConstant) return result;
  const Tensor& root = *plan_.graph().constant(slot.root);
  if (!renamed_.contains(slot.root)) renamed_.emplace(slot.root, upload({root.raw(), root.bytes()}));
  result.data = renamed_.at(slot.root).pointer();
  return result;
}

void DeviceRunner::stage_input(ValueId id) {
  const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
  TensorView view = device_view(id);
  has_frame_ = has_frame_ || slot.kind == Slot::Kind::kFrame;
  if (slot.kind == Slot::Kind::kArena) {
    const std::size_t bytes = bytes_of(view.dtype, view.shape);
    Staged& made = inputs_.emplace_back();
    made.memory = make_pinned(bytes);
    made.copy = {
        .from = address_of(made.memory.get()), .to = address_of(view.data), .bytes = static_cast<std::int64_t>(bytes)};
    view.data = made.memory.get();
  }
  views_.emplace(id, view);
}

void DeviceRunner::stage_output(ValueId id) {
  if (views_.contains(id) || places_.contains(id)) return;  // an input, or given twice
  const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
  TensorView view = device_view(id);
  if (slot.kind != Slot::Kind::kArena) {
    if (slot.kind == Slot::Kind::kConstant) view.layout = Layout::kRowMajor;
    views_.emplace(id, view);
    return;
  }
  std::size_t place = 0;
  if (!outputs_.empty()) place = outputs_.back().to + static_cast<std::size_t>(outputs_.back().bytes);
  place = (place + kOutputAlignment - 1) / kOutputAlignment * kOutputAlignment;
  Copy& copy = outputs_.emplace_back();
  copy = {
      .from = address_of(view.data), .to = place, .bytes = static_cast<std::int64_t>(bytes_of(view.dtype, view.shape))};
  // A count that is an output itself is still there at the end.
  const ValueId count = row_count_of(plan_.graph(), id);
  if (count != ValueId::kNone && plan_.graph().is_output(count) && view.shape[0] > 0) {
    copy.count = address_of(device_view(count).data);
    copy.row_bytes = copy.bytes / view.shape[0];
  }
  places_.emplace(id, place);
}

TensorView DeviceRunner::view(ValueId id) const {
  const auto place = places_.find(id);
  if (place == places_.end()) return views_.at(id);
  const Value& value = plan_.graph().value(id);
  TensorView result{.dtype = value.type.dtype, .layout = value.layout, .shape = value.type.shape};
  result.data = results_->at(place->second);
  return result;
}

BoundLaunches DeviceRunner::bind(std::span<const Step> steps, std::byte* scratch, Queue& queue) {
  BoundLaunches launches;
  for (const Step& step : steps) {
    if (!step.launch) {
      launches.emplace_back();
      continue;
    }
    const Node& node = plan_.graph().node(step.node);
    std::vector<TensorView> inputs;
    std::vector<TensorView> outputs;
    for (ValueId id : node.inputs) inputs.push_back(input_view(id));
    for (ValueId id : node.outputs) outputs.push_back(device_view(id));
    launches.push_back(step.launch->bind(
        {.inputs = inputs, .outputs = outputs, .scratch = scratch + step.scratch_offset, .queue = &queue}));
  }
  return launches;
}

std::unique_ptr<Variant> DeviceRunner::make_variant(std::span<const Step> steps) {
  std::vector<Step> placed(steps.begin(), steps.end());
  std::size_t scratch_bytes = 0;
  for (Step& step : placed) {
    step.scratch_offset = 0;  // one launch at a time has it
    if (step.launch) scratch_bytes = std::max(scratch_bytes, step.launch->scratch_bytes());
  }
  const auto bind_to = [&](std::byte* scratch, Queue& queue) { return bind(placed, scratch, queue); };
  return std::make_unique<DeviceVariant>(
      device_, DeviceVariant::Work{name(), inputs(), outputs_, frame_, scratch_bytes, executable_ != nullptr}, bind_to);
}

void DeviceRunner::submit() {
  running_times_ = times_;
  device_.make_current();
  start_ = Clock::now();
  if (!stays_) {
    upload_->prepare(frame_);
    results_->prepare();
  }
  if (executable_ && !running_times_.empty() && costs_.empty()) measure_costs();
  if (executable_)
    SACCADE_CUDA(cuGraphLaunch(executable_.get(), queue_.stream.get()));
  else
    enqueue();
  set_model_time(Clock::now() - start_);
}

void DeviceRunner::wait() {
  const auto start = Clock::now();
  device_.make_current();
  SACCADE_CUDA(cuStreamSynchronize(queue_.stream.get()));
  finish();
  set_model_time(stage_time(Stage::kModel) + (Clock::now() - start));
  if (!running_times_.empty()) executable_ ? tell_costs() : read_times();
}

void DeviceRunner::finish() {
  if (queue_.failure) {
    queue_.faults.forget();
    std::rethrow_exception(std::exchange(queue_.failure, nullptr));
  }
  queue_.faults.check();
  if (!stays_) results_->show();
}

/// Stages of one graph are told apart by a profile alone.
void DeviceRunner::set_model_time(std::chrono::nanoseconds time) {
  stage_times_.fill({});
  stage_times_[static_cast<std::size_t>(Stage::kModel)] = time;
}

/// In a profile without a graph an event stands behind each launch: a launch that begins early is charged from the end
/// of the one before it, and the first one, which reads the frame, for the upload.
void DeviceRunner::enqueue() {
  if (!running_times_.empty()) record(events_.back());
  if (!stays_) upload_->enqueue(queue_.stream.get());
  enqueue_branch();
}

void DeviceRunner::launch(std::size_t step) {
  try {
    launches_[step]->run();
  } catch (const Error& error) {
    throw error.in(describe(plan_.graph().node(plan_.steps()[step].node)));
  }
}

void DeviceRunner::enqueue_branch() {
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (launches_[i]) launch(i);
    if (!running_times_.empty()) record(events_[i]);
  }
  if (!stays_) results_->enqueue(queue_.stream.get());
}

std::vector<Copy> DeviceRunner::inputs() const {
  std::vector<Copy> copies;
  for (const Staged& each : inputs_) copies.push_back(each.copy);
  return copies;
}

std::unique_ptr<RunGroup> DeviceRunner::group(std::span<Runner* const> others) {
  std::vector<DeviceRunner*> members{this};
  for (Runner* other : others) {
    auto* member = dynamic_cast<DeviceRunner*>(other);
    if (member == nullptr || &member->device_ != &device_ || !member->has_frame_ || !has_frame_) return nullptr;
    members.push_back(member);
  }
  return std::make_unique<DeviceRunGroup>(device_, std::move(members), graph_);
}

void DeviceRunner::record(const Event& event) { SACCADE_CUDA(cuEventRecord(event.get(), queue_.stream.get())); }

/// What each launch adds to the graph.
void DeviceRunner::measure_costs() {
  const auto graph_of = [this](std::size_t count) {
    return capture(queue_.stream.get(), plan_.graph().name, [&] {
      if (!stays_) upload_->enqueue(queue_.stream.get());
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

/// The launches of a run one after the other, as if each took what it adds to the graph.
void DeviceRunner::tell_costs() {
  stage_times_.fill({});
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (!launches_[i]) continue;
    running_times_[i] = {start_, start_ + costs_[i]};
    start_ = running_times_[i].end;
    stage_times_[static_cast<std::size_t>(plan_.steps()[i].stage)] += costs_[i];
  }
}

void DeviceRunner::read_times() {
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

void DeviceRunner::poison() {
  device_.make_current();
  for (const Staged& each : inputs_) std::memset(each.memory.get(), 0xFF, static_cast<std::size_t>(each.copy.bytes));
  results_->poison();
  SACCADE_CUDA(cuMemsetD8Async(arena_.address(), 0xFF, arena_.bytes(), queue_.stream.get()));
  SACCADE_CUDA(cuStreamSynchronize(queue_.stream.get()));
}

void DeviceRunner::leave_on_device(bool leaves) {
  const CUstream stream = queue_.stream.get();
  device_.make_current();
  leaves ? upload_->prepare(frame_) : results_->prepare();
  leaves ? upload_->enqueue(stream) : results_->enqueue(stream);
  SACCADE_CUDA(cuStreamSynchronize(stream));
  if (!leaves) results_->show();
  stays_ = leaves;
  running_times_ = {};
  if (executable_) executable_ = capture(stream, plan_.graph().name, [this] { enqueue(); });
}

void DeviceRunner::time_steps(std::span<StepTime> times) {
  times_ = times;
  device_.make_current();
  for (std::size_t i = events_.size(); !times.empty() && i <= launches_.size(); ++i)
    events_.push_back(make_event(CU_EVENT_DEFAULT));
}

}  // namespace saccade::cuda
