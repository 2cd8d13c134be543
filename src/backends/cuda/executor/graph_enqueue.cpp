#include <algorithm>

#include "base/error.hpp"
#include "cuda/executor/graph_executor.hpp"

namespace saccade::cuda {
namespace {

/// A captured run would be replayed beside others, which use the same arena.
void check_is_not_captured(CUstream stream, const std::string& name) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  SACCADE_CUDA(cuStreamIsCapturing(stream, &status));
  if (status != CU_STREAM_CAPTURE_STATUS_NONE)
    fail(ErrorCode::kUnsupported, "'{}' can't be part of a CUDA graph that is being captured: its runs are one already",
         name);
}

void copy(CUdeviceptr from, CUdeviceptr to, std::size_t bytes, CUstream stream) {
  if (bytes != 0 && from != to) SACCADE_CUDA(cuMemcpyDtoDAsync_v2(to, from, bytes, stream));
}

}  // namespace

/// The addresses of tensors change from run to run, so that the captured graph has the work in the arena alone: the
/// copies before and after it take 1 to 2 us each on an H200.
void GraphExecutor::enqueue(void* stream, std::span<const void* const> inputs, std::span<void* const> outputs) {
  const auto in = static_cast<CUstream>(stream);
  device_.make_current();
  check_is_not_captured(in, name());
  queue_.index_reports.check();
  if (!on_device_) leave_on_device(true);
  // Runs in different streams use the same arena, one after the other.
  if (enqueued_) SACCADE_CUDA(cuStreamWaitEvent(in, enqueued_.get(), 0));
  const Graph& graph = plan_.graph();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView view = device_view(graph.inputs()[i]);
    if (view.data != nullptr) copy(address_of(inputs[i]), address_of(view.data), bytes_of(view.dtype, view.shape), in);
  }
  enqueue_in(in);
  copy_outputs(outputs, in);
  if (!enqueued_) enqueued_ = make_event(CU_EVENT_DISABLE_TIMING);
  SACCADE_CUDA(cuEventRecord(enqueued_.get(), in));
  if (!queue_.calls_host) return;
  // What a host function throws belongs to this call.
  SACCADE_CUDA(cuStreamSynchronize(in));
  finish();
}

/// Copies the outputs for which there is an address.
void GraphExecutor::copy_outputs(std::span<void* const> outputs, CUstream stream) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    TensorView view = device_view(plan_.graph().outputs()[i]);
    const Slot& slot = plan_.slots()[static_cast<std::size_t>(plan_.graph().outputs()[i])];
    if (slot.kind == Slot::Kind::kConstant) view.data = constant_on_device(slot.root);
    copy(address_of(view.data), address_of(outputs[i]), bytes_of(view.dtype, view.shape), stream);
  }
}

void GraphExecutor::use_device_tensors(std::span<const void* const> inputs, std::span<void* const> outputs) {
  device_inputs_.assign(inputs.begin(), inputs.end());
  device_outputs_.assign(outputs.begin(), outputs.end());
}

/// The lists of copies are read when they run, so that the captured graph can read and skip other tensors in each run.
void GraphExecutor::prepare_copies() {
  const Graph& graph = plan_.graph();
  for (std::size_t i = 0; i < device_inputs_.size(); ++i) {
    const auto staged = std::ranges::find(inputs_, graph.inputs()[i], &Staged::id);
    if (staged == inputs_.end()) continue;
    const CUdeviceptr given = address_of(device_inputs_[i]);
    upload_->read_input(static_cast<std::size_t>(staged - inputs_.begin()), given == 0 ? staged->copy.from : given);
    // The host reads an output that is an input where that is staged.
    if (given != 0 && std::ranges::count(graph.outputs(), staged->id) > 0)
      SACCADE_CUDA(cuMemcpyDtoHAsync_v2(staged->memory.get(), given, static_cast<std::size_t>(staged->copy.bytes),
                                        queue_.stream.get()));
  }
  for (std::size_t i = 0; i < device_outputs_.size(); ++i) {
    const ValueId id = graph.outputs()[i];
    const auto place = places_.find(id);
    if (place == places_.end() || device_outputs_[i] == nullptr || is_read_by_host(i)) continue;
    const auto copied = std::ranges::find(outputs_, place->second, &Copy::to);
    download_->skip(static_cast<std::size_t>(copied - outputs_.begin()));
  }
}

/// At the end of the run that they are for: their memory may be freed.
void GraphExecutor::forget_device_tensors() {
  if (!device_inputs_.empty())
    for (std::size_t i = 0; i < inputs_.size(); ++i) upload_->read_input(i, inputs_[i].copy.from);
  device_inputs_.clear();
  device_outputs_.clear();
}

/// Whether the value of output number I is another output, too, which is in view(), or the size of one.
bool GraphExecutor::is_read_by_host(std::size_t i) const {
  const Graph& graph = plan_.graph();
  for (std::size_t j = 0; j < device_outputs_.size(); ++j)
    if (graph.outputs()[j] == graph.outputs()[i] && device_outputs_[j] == nullptr) return true;
  return std::ranges::any_of(graph.extents(),
                             [&](const Extent& extent) { return graph.outputs()[extent.count] == graph.outputs()[i]; });
}

/// Launches are bound to the executor's stream, which a captured graph does not depend on.
void GraphExecutor::enqueue_in(CUstream stream) {
  if (executable_) {
    SACCADE_CUDA(cuGraphLaunch(executable_.get(), stream));
    return;
  }
  const Event ready = make_event(CU_EVENT_DISABLE_TIMING);
  const Event done = make_event(CU_EVENT_DISABLE_TIMING);
  SACCADE_CUDA(cuEventRecord(ready.get(), stream));
  SACCADE_CUDA(cuStreamWaitEvent(queue_.stream.get(), ready.get(), 0));
  enqueue();
  SACCADE_CUDA(cuEventRecord(done.get(), queue_.stream.get()));
  SACCADE_CUDA(cuStreamWaitEvent(stream, done.get(), 0));
}

}  // namespace saccade::cuda
