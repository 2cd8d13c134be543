#include "cuda/driver/capture.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

namespace saccade::cuda {
namespace {

GraphHandle record(CUstream stream, const std::function<void()>& work) {
  // Thread-local mode: other threads may allocate and capture meanwhile.
  SACCADE_CUDA(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CUgraph graph = nullptr;
  try {
    work();
  } catch (...) {
    // The capture must end before the stream can be used again.
    if (driver().cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS) GraphHandle(graph).reset();
    throw;
  }
  SACCADE_CUDA(cuStreamEndCapture(stream, &graph));
  return GraphHandle(graph);
}

}  // namespace

GraphExec capture(CUstream stream, const std::string& name, const std::function<void()>& work) {
  try {
    const GraphHandle graph = record(stream, work);
    CUgraphExec executable = nullptr;
    SACCADE_CUDA(cuGraphInstantiateWithFlags(&executable, graph.get(), 0));
    return GraphExec(executable);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kDevice) throw;
    log(LogLevel::kWarning, "'{}' can't run as one CUDA graph, so its kernels are launched one by one: {}", name,
        error.what());
    return nullptr;
  }
}

}  // namespace saccade::cuda
