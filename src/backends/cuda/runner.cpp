#include "cuda/runner.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "cuda/queue.hpp"

namespace saccade::cuda {
namespace {

/// A graph input or output in memory that the host sees, and where it lies on the device.
struct Staged {
  PinnedMemory memory;
  CUdeviceptr device = 0;
  std::size_t bytes = 0;
};

class DeviceRunner : public Runner {
 public:
  DeviceRunner(Device& device, const Plan& plan, bool graph) : device_(device), plan_(plan) {
    device.make_current();
    queue_.stream = make_stream();
    arena_ = DeviceMemory(plan.arena_bytes());
    for (ValueId id : plan.graph().inputs()) stage(id, inputs_);
    for (ValueId id : plan.graph().outputs()) stage(id, outputs_);
    for (const Step& step : plan.steps()) bind(step);
    if (graph) capture();
  }
  DeviceRunner(const DeviceRunner&) = delete;
  DeviceRunner& operator=(const DeviceRunner&) = delete;
  ~DeviceRunner() override {
    static_cast<void>(driver().cuCtxSetCurrent(device_.context()));
    static_cast<void>(driver().cuStreamSynchronize(queue_.stream.get()));
  }

  TensorView view(ValueId id) const override { return staged_.at(id); }
  FrameView* frame() override { return has_frame_ ? &frame_ : nullptr; }
  std::chrono::nanoseconds stage_time(Stage stage) const override {
    return stage_times_[static_cast<std::size_t>(stage)];
  }

  void run() override {
    device_.make_current();
    const auto start = Clock::now();
    if (!times_.empty()) {
      run_timed(start);
      return;
    }
    prepare();
    if (executable_)
      SACCADE_CUDA(cuGraphLaunch(executable_.get(), queue_.stream.get()));
    else
      enqueue();
    wait();
    // Stages of one graph are told apart by a profile alone.
    stage_times_.fill({});
    stage_times_[static_cast<std::size_t>(Stage::kModel)] = Clock::now() - start;
  }

  void poison() override {
    device_.make_current();
    for (auto* staged : {&inputs_, &outputs_})
      for (Staged& each : *staged) std::memset(each.memory.get(), 0xFF, each.bytes);
    SACCADE_CUDA(cuMemsetD8Async(arena_.address(), 0xFF, arena_.bytes(), queue_.stream.get()));
    SACCADE_CUDA(cuStreamSynchronize(queue_.stream.get()));
  }

  void time_steps(std::span<StepTime> times) override {
    times_ = times;
    device_.make_current();
    for (std::size_t i = events_.size(); !times.empty() && i <= launches_.size(); ++i)
      events_.push_back(make_event(CU_EVENT_DEFAULT));
  }

 private:
  TensorView device_view(ValueId id) {
    if (id == ValueId::kNone) return {};
    const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
    const Value& value = plan_.graph().value(id);
    TensorView result{.dtype = value.type.dtype, .layout = value.layout, .shape = value.type.shape};
    // Constants are each launch's own; a frame is read where the host has it.
    if (slot.kind == Slot::Kind::kArena) result.data = arena_.pointer() + slot.offset;
    if (slot.kind == Slot::Kind::kFrame) result.data = &frame_;
    if (slot.kind == Slot::Kind::kConstant) result.data = view_of(*plan_.graph().constant(slot.root)).data;
    return result;
  }

  /// Gives a graph input or output memory that the host sees.
  void stage(ValueId id, std::vector<Staged>& list) {
    const Slot& slot = plan_.slots()[static_cast<std::size_t>(id)];
    TensorView view = device_view(id);
    if (slot.kind == Slot::Kind::kFrame) {
      has_frame_ = true;
      staged_[id] = view;
      return;
    }
    if (slot.kind != Slot::Kind::kArena) {  // an output that is a constant, or an input that nobody reads
      if (slot.kind == Slot::Kind::kConstant) view.layout = Layout::kRowMajor;
      staged_.emplace(id, view);
      return;
    }
    Staged& made = list.emplace_back();
    made.bytes = bytes_of(view.dtype, view.shape);
    made.memory = make_pinned(made.bytes);
    made.device = address_of(view.data);
    view.data = made.memory.get();
    staged_.emplace(id, view);
  }

  void bind(const Step& step) {
    if (!step.launch) {
      launches_.emplace_back();
      return;
    }
    const Node& node = plan_.graph().node(step.node);
    std::vector<TensorView> inputs;
    std::vector<TensorView> outputs;
    for (ValueId id : node.inputs) inputs.push_back(device_view(id));
    for (ValueId id : node.outputs) outputs.push_back(device_view(id));
    launches_.push_back(step.launch->bind(
        {.inputs = inputs, .outputs = outputs, .scratch = arena_.pointer() + step.scratch_offset, .queue = &queue_}));
  }

  void prepare() {
    for (BeforeRun* launch : queue_.before_run) launch->before_run();
  }

  void upload() {
    for (const Staged& each : inputs_)
      SACCADE_CUDA(cuMemcpyHtoDAsync_v2(each.device, each.memory.get(), each.bytes, queue_.stream.get()));
  }

  void download() {
    for (const Staged& each : outputs_)
      SACCADE_CUDA(cuMemcpyDtoHAsync_v2(each.memory.get(), each.device, each.bytes, queue_.stream.get()));
  }

  void enqueue() {
    upload();
    for (const auto& launch : launches_)
      if (launch) launch->run();
    download();
  }

  void capture() {
    SACCADE_CUDA(cuStreamBeginCapture_v2(queue_.stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CUgraph graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      // The stream must leave the capture before it can be destroyed.
      if (driver().cuStreamEndCapture(queue_.stream.get(), &graph) == CUDA_SUCCESS) Graph(graph).reset();
      throw;
    }
    SACCADE_CUDA(cuStreamEndCapture(queue_.stream.get(), &graph));
    const Graph captured(graph);
    CUgraphExec executable = nullptr;
    SACCADE_CUDA(cuGraphInstantiateWithFlags(&executable, captured.get(), 0));
    executable_.reset(executable);
  }

  void wait() {
    SACCADE_CUDA(cuStreamSynchronize(queue_.stream.get()));
    if (queue_.failure) std::rethrow_exception(std::exchange(queue_.failure, nullptr));
  }

  /// Call by call with an event between launches: what a profile asks for. A launch that begins early is charged from
  /// the end of the one before it.
  void run_timed(Clock::time_point start) {
    upload();
    const CUstream stream = queue_.stream.get();
    SACCADE_CUDA(cuEventRecord(events_.back().get(), stream));
    prepare();  // counts as work of the first launch, which reads the frame
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (launches_[i]) launches_[i]->run();
      SACCADE_CUDA(cuEventRecord(events_[i].get(), stream));
    }
    download();
    wait();
    stage_times_.fill({});
    Clock::time_point before = start;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      float milliseconds = 0;
      SACCADE_CUDA(cuEventElapsedTime(&milliseconds, events_.back().get(), events_[i].get()));
      const auto since = std::chrono::duration<float, std::milli>(milliseconds);
      const auto end = start + std::chrono::duration_cast<std::chrono::nanoseconds>(since);
      if (launches_[i]) times_[i] = {before, end};
      stage_times_[static_cast<std::size_t>(plan_.steps()[i].stage)] += end - before;
      before = end;
    }
  }

  Device& device_;
  const Plan& plan_;
  Queue queue_;
  DeviceMemory arena_;
  FrameView frame_;
  bool has_frame_ = false;
  std::vector<Staged> inputs_;
  std::vector<Staged> outputs_;
  std::map<ValueId, TensorView> staged_;
  std::vector<std::unique_ptr<BoundLaunch>> launches_;  // by step; null: a view
  GraphExec executable_;                                // null: work is enqueued call by call
  std::array<std::chrono::nanoseconds, 3> stage_times_{};
  std::span<StepTime> times_;
  std::vector<Event> events_;  // one a step, and where the run began last
};

}  // namespace

std::unique_ptr<Runner> make_runner(Device& device, const Plan& plan, bool graph) {
  return std::make_unique<DeviceRunner>(device, plan, graph);
}

}  // namespace saccade::cuda
