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
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    TensorView view = device_view(graph.outputs()[i]);
    const Slot& slot = plan_.slots()[static_cast<std::size_t>(graph.outputs()[i])];
    if (slot.kind == Slot::Kind::kConstant) view.data = constant_on_device(slot.root);
    copy(address_of(view.data), address_of(outputs[i]), bytes_of(view.dtype, view.shape), in);
  }
  if (!enqueued_) enqueued_ = make_event(CU_EVENT_DISABLE_TIMING);
  SACCADE_CUDA(cuEventRecord(enqueued_.get(), in));
  if (!queue_.calls_host) return;
  // What a host function throws belongs to this call.
  SACCADE_CUDA(cuStreamSynchronize(in));
  finish();
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
