#include "cuda/executor/graph_executor.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/driver/capture.hpp"
#include "cuda/executor/run_group.hpp"
#include "cuda/executor/variant.hpp"
#include "graph/print.hpp"
#include "ops/core/op.hpp"

namespace saccade::cuda {
namespace {

constexpr std::size_t kOutputAlignment = 256;

/// The extent that truncates the copy of output number OUTPUT, a row-major tensor; null: all of it is copied. The valid
/// elements are contiguous if all axes before the extent's have one element. The count is an output itself, so it is
/// still valid at the end of the run; a constant one stays on the host.
const Extent* copied_extent(const Plan& plan, std::size_t output) {
  const Graph& graph = plan.graph();
  const Shape& shape = graph.value(graph.outputs()[output]).type.shape;
  for (const Extent& extent : graph.extents()) {
    const Slot& count = plan.slots()[static_cast<std::size_t>(graph.outputs()[extent.count])];
    if (extent.output != output || shape[extent.axis] == 0 || count.kind != Slot::Kind::kArena) continue;
    if (std::all_of(shape.begin(), shape.begin() + extent.axis, [](std::int64_t dim) { return dim == 1; }))
      return &extent;
  }
  return nullptr;
}

}  // namespace

GraphExecutor::GraphExecutor(Device& device, const Plan& plan, bool graph)
    : device_(device), plan_(plan), graph_(graph) {
  device.make_current();
  queue_.stream = make_stream();
  arena_ = DeviceMemory(plan.arena_bytes());
  frames_.resize(static_cast<std::size_t>(std::ranges::count(plan.slots(), Slot::Kind::kFrame, &Slot::kind)));
  for (ValueId id : plan.graph().inputs()) stage_input(id);
  for (std::size_t i = 0; i < plan.graph().outputs().size(); ++i) stage_output(i);
  launches_ = bind_branches();
  upload_.emplace(device, this->inputs(), frame_readers());
  download_.emplace(device, outputs_);
  if (graph) executable_ = capture(queue_.stream.get(), plan.graph().name, [this] { enqueue(); });
}

GraphExecutor::~GraphExecutor() {
  static_cast<void>(driver().cuCtxSetCurrent(device_.context()));
  if (enqueued_) static_cast<void>(driver().cuStreamWaitEvent(queue_.stream.get(), enqueued_.get(), 0));
  static_cast<void>(driver().cuStreamSynchronize(queue_.stream.get()));
}

TensorView GraphExecutor::device_view(ValueId id) {
  if (id == ValueId::kNone) return {};
  const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
  const Value& value = plan_.graph().value(id);
  TensorView result{.dtype = value.type.dtype, .layout = value.layout, .shape = value.type.shape};
  // The FrameView stays on the host; Upload copies what it describes.
  if (slot.kind == Slot::Kind::kArena) result.data = arena_.pointer() + slot.offset;
  if (slot.kind == Slot::Kind::kFrame) result.data = &frames_[slot.offset];
  if (slot.kind == Slot::Kind::kConstant) result.data = view_of(*plan_.graph().constant(slot.root)).data;
  return result;
}

/// Launches own their constants. A constant under another name is not known to a launch as one, so it is uploaded here.
TensorView GraphExecutor::input_view(ValueId id) {
  TensorView result = device_view(id);
  if (id == ValueId::kNone || plan_.graph().constant(id) != nullptr) return result;
  const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
  if (slot.kind != Slot::Kind::kConstant) return result;
  result.data = constant_on_device(slot.root);
  return result;
}

std::byte* GraphExecutor::constant_on_device(ValueId id) {
  const Tensor& constant = *plan_.graph().constant(id);
  if (!constants_.contains(id)) constants_.emplace(id, upload({constant.raw(), constant.bytes()}));
  return constants_.at(id).pointer();
}

void GraphExecutor::stage_input(ValueId id) {
  const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
  TensorView view = device_view(id);
  if (slot.kind == Slot::Kind::kArena) {
    const std::size_t bytes = bytes_of(view.dtype, view.shape);
    Staged& made = inputs_.emplace_back();
    made.id = id;
    made.memory = make_pinned(bytes);
    made.copy = {
        .from = address_of(made.memory.get()), .to = address_of(view.data), .bytes = static_cast<std::int64_t>(bytes)};
    view.data = made.memory.get();
  }
  views_.emplace(id, view);
}

void GraphExecutor::stage_output(std::size_t i) {
  const ValueId id = plan_.graph().outputs()[i];
  if (views_.contains(id) || places_.contains(id)) return;  // an input, or listed twice
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
  if (const Extent* extent = copied_extent(plan_, i)) {
    copy.count = address_of(device_view(plan_.graph().outputs()[extent->count]).data);
    copy.row_bytes = copy.bytes / view.shape[extent->axis];
  }
  places_.emplace(id, place);
}

TensorView GraphExecutor::view(ValueId id) const {
  const auto place = places_.find(id);
  if (place == places_.end()) return views_.at(id);
  const Value& value = plan_.graph().value(id);
  TensorView result{.dtype = value.type.dtype, .layout = value.layout, .shape = value.type.shape};
  result.data = download_->at(place->second);
  return result;
}

BoundLaunches GraphExecutor::bind(std::span<const Step> steps, std::byte* scratch, Queue& queue) {
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

/// Launches take the stream of the queue when they are bound.
BoundLaunches GraphExecutor::bind_branches() {
  branches_ = plan_branches(plan_);
  if (branches_.empty()) return bind(plan_.steps(), arena_.pointer(), queue_);
  forked_ = make_event(CU_EVENT_DISABLE_TIMING);
  for (std::size_t i = 1; i < streams_of(branches_); ++i) streams_.push_back(make_stream());
  BoundLaunches launches;
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    branch_events_.push_back(branches_[i].is_awaited ? make_event(CU_EVENT_DISABLE_TIMING) : Event());
    const std::size_t stream = branches_[i].stream;
    if (stream > 0) std::swap(queue_.stream, streams_[stream - 1]);
    BoundLaunches bound = bind({&plan_.steps()[i], 1}, arena_.pointer(), queue_);
    if (stream > 0) std::swap(queue_.stream, streams_[stream - 1]);
    launches.push_back(std::move(bound.front()));
  }
  return launches;
}

std::unique_ptr<Variant> GraphExecutor::make_variant(std::span<const Step> steps) {
  std::vector<Step> placed(steps.begin(), steps.end());
  std::size_t scratch_bytes = 0;
  for (Step& step : placed) {
    step.scratch_offset = 0;  // launches run one at a time
    if (step.launch) scratch_bytes = std::max(scratch_bytes, step.launch->scratch_bytes());
  }
  const auto bind_to = [&](std::byte* scratch, Queue& queue) { return bind(placed, scratch, queue); };
  return std::make_unique<DeviceVariant>(
      device_, DeviceVariant::Work{name(), inputs(), outputs_, frames_, scratch_bytes, executable_ != nullptr},
      bind_to);
}

void GraphExecutor::submit() {
  running_times_ = times_;
  device_.make_current();
  start_ = Clock::now();
  if (!on_device_) {
    upload_->prepare(frames_);
    upload_->await_frames(queue_.stream.get());
    download_->prepare();
    prepare_copies();
  }
  if (executable_ && !running_times_.empty() && costs_.empty()) measure_costs();
  if (executable_)
    SACCADE_CUDA(cuGraphLaunch(executable_.get(), queue_.stream.get()));
  else
    enqueue();
  copy_outputs(device_outputs_, queue_.stream.get());
  submission_ = Clock::now() - start_;
}

void GraphExecutor::wait() {
  const auto start = Clock::now();
  device_.make_current();
  SACCADE_CUDA(cuStreamSynchronize(queue_.stream.get()));
  finish();
  set_model_time(submission_ + (Clock::now() - start));
  if (!running_times_.empty()) executable_ ? report_costs() : read_times();
}

void GraphExecutor::finish() {
  forget_device_tensors();
  if (queue_.failure) {
    queue_.index_reports.reset();
    std::rethrow_exception(std::exchange(queue_.failure, nullptr));
  }
  queue_.index_reports.check();
  if (!on_device_) download_->show();
}

/// Stages of a single graph launch cannot be timed separately, except in a profile.
void GraphExecutor::set_model_time(std::chrono::nanoseconds time) {
  stage_times_.fill({});
  stage_times_[static_cast<std::size_t>(Stage::kModel)] = time;
}

/// In a profile without a graph, an event follows each launch. A launch that starts early (PDL) is charged from the end
/// of its predecessor, and the first one also for the upload.
void GraphExecutor::enqueue() {
  if (!running_times_.empty()) record(events_.back());
  if (!on_device_) upload_->enqueue(queue_.stream.get());
  enqueue_branch();
}

void GraphExecutor::launch(std::size_t step) {
  try {
    launches_[step]->run();
  } catch (const Error& error) {
    throw error.in(describe(plan_.graph().node(plan_.steps()[step].node)));
  }
}

/// The other streams fork from the queue's and join it at the end.
void GraphExecutor::enqueue_branches() {
  const CUstream main = queue_.stream.get();
  const auto stream_of = [&](std::size_t i) { return i == 0 ? main : streams_[i - 1].get(); };
  SACCADE_CUDA(cuEventRecord(forked_.get(), main));
  for (const Stream& stream : streams_) SACCADE_CUDA(cuStreamWaitEvent(stream.get(), forked_.get(), 0));
  std::map<std::size_t, std::size_t> last;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (!launches_[i]) continue;
    const CUstream stream = stream_of(branches_[i].stream);
    for (const std::size_t before : branches_[i].after)
      SACCADE_CUDA(cuStreamWaitEvent(stream, branch_events_[before].get(), 0));
    launch(i);
    if (branches_[i].is_awaited) SACCADE_CUDA(cuEventRecord(branch_events_[i].get(), stream));
    last[branches_[i].stream] = i;
  }
  for (const auto& [stream, step] : last)
    if (stream != 0) SACCADE_CUDA(cuStreamWaitEvent(main, branch_events_[step].get(), 0));
}

void GraphExecutor::enqueue_branch() {
  if (!branches_.empty()) {
    enqueue_branches();
    if (!on_device_) download_->enqueue(queue_.stream.get());
    return;
  }
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (launches_[i]) launch(i);
    if (!running_times_.empty()) record(events_[i]);
  }
  if (!on_device_) download_->enqueue(queue_.stream.get());
}

std::vector<Copy> GraphExecutor::inputs() const {
  std::vector<Copy> copies;
  for (const Staged& each : inputs_) copies.push_back(each.copy);
  return copies;
}

std::unique_ptr<RunGroup> GraphExecutor::group(std::span<Runner* const> others) {
  std::vector<GraphExecutor*> members{this};
  for (Runner* other : others) {
    auto* member = dynamic_cast<GraphExecutor*>(other);
    if (member == nullptr || &member->device_ != &device_ || frames_.empty()) return nullptr;
    if (member->frames_.size() != frames_.size()) return nullptr;
    members.push_back(member);
  }
  return std::make_unique<GraphExecutorGroup>(device_, std::move(members), graph_);
}

void GraphExecutor::poison() {
  device_.make_current();
  for (const Staged& each : inputs_) std::memset(each.memory.get(), 0xFF, static_cast<std::size_t>(each.copy.bytes));
  download_->poison();
  SACCADE_CUDA(cuMemsetD8Async(arena_.address(), 0xFF, arena_.bytes(), queue_.stream.get()));
  SACCADE_CUDA(cuStreamSynchronize(queue_.stream.get()));
}

void GraphExecutor::leave_on_device(bool leaves) {
  forget_device_tensors();
  const CUstream stream = queue_.stream.get();
  device_.make_current();
  if (enqueued_) SACCADE_CUDA(cuStreamWaitEvent(stream, enqueued_.get(), 0));
  leaves ? upload_->prepare(frames_) : download_->prepare();
  if (leaves) upload_->await_frames(stream);
  leaves ? upload_->enqueue(stream) : download_->enqueue(stream);
  SACCADE_CUDA(cuStreamSynchronize(stream));
  if (!leaves) download_->show();
  on_device_ = leaves;
  running_times_ = {};
  if (executable_) executable_ = capture(stream, plan_.graph().name, [this] { enqueue(); });
}

}  // namespace saccade::cuda
