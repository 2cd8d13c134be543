#include <algorithm>
#include <atomic>
#include <utility>

#include "driver_functions.hpp"
#include "state.hpp"

// Streams and what is captured of them, events, host functions.
namespace saccade::emulator {
namespace {

std::atomic<long long> done{0};  // pieces of work

bool captures_here(const CUstream_st& stream) {
  return stream.capturing && stream.capturer == std::this_thread::get_id();
}

}  // namespace

long long ticks() { return done; }

bool is_capturing(CUstream stream) {
  const auto found = handles<CUstream_st>().find(stream);
  if (found == nullptr) return false;
  const std::scoped_lock lock(found->mutex);
  return found->capturing;
}

bool spoil_captures() {
  bool any = false;
  for (const auto& stream : handles<CUstream_st>().all()) {
    const std::scoped_lock lock(stream->mutex);
    if (!captures_here(*stream)) continue;
    stream->spoilt = true;
    any = true;
  }
  return any;
}

CUresult enqueue(CUstream handle, Operation operation) {
  const auto stream = handles<CUstream_st>().find(handle);
  if (stream == nullptr) return kInvalidHandle;
  const std::scoped_lock lock(stream->mutex);
  if (stream->spoilt) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  (stream->capturing ? stream->captured : stream->pending).push_back(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult run(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    if (const CUresult result = operation(); result != CUDA_SUCCESS) return result;
    ++done;
  }
  return CUDA_SUCCESS;
}

CUresult drain(CUstream_st& stream) {
  const std::scoped_lock running(stream.running);
  std::vector<Operation> work;
  {
    const std::scoped_lock lock(stream.mutex);
    work.swap(stream.pending);
  }
  return run(work);
}

CUresult drain_all() {
  CUresult result = CUDA_SUCCESS;
  for (const auto& stream : handles<CUstream_st>().all())
    if (const CUresult each = drain(*stream); each != CUDA_SUCCESS) result = each;
  return result;
}

}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  SACCADE_BEGIN(cuStreamCreate, Needs::kContext);
  if (flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *stream = handles<CUstream_st>().add(std::make_shared<CUstream_st>());
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  SACCADE_BEGIN(cuStreamDestroy_v2, Needs::kContext);
  if (is_capturing(stream)) return kCaptureUnsupported;
  const auto owner = handles<CUstream_st>().take(stream);
  return owner == nullptr ? kInvalidHandle : drain(*owner);
}

CUresult cuStreamSynchronize(CUstream handle) {
  SACCADE_BEGIN(cuStreamSynchronize, Needs::kContext);
  const auto stream = handles<CUstream_st>().find(handle);
  if (stream == nullptr) return kInvalidHandle;
  {
    const std::scoped_lock lock(stream->mutex);
    if (stream->capturing) {
      stream->spoilt = true;
      return kCaptureUnsupported;
    }
  }
  return drain(*stream);
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  SACCADE_BEGIN(cuStreamBeginCapture_v2, Needs::kContext);
  const auto stream = handles<CUstream_st>().find(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) return kNotSupported;
  const std::scoped_lock lock(stream->mutex);
  if (stream->capturing) return kIllegalState;
  stream->capturing = true;
  stream->capturer = std::this_thread::get_id();
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  SACCADE_BEGIN(cuStreamEndCapture, Needs::kContext);
  *graph = nullptr;
  const auto stream = handles<CUstream_st>().find(handle);
  if (stream == nullptr) return kInvalidHandle;
  const std::scoped_lock lock(stream->mutex);
  if (!stream->capturing) return kIllegalState;
  if (!captures_here(*stream)) return kCaptureWrongThread;
  stream->capturing = false;
  auto operations = std::exchange(stream->captured, {});
  if (std::exchange(stream->spoilt, false)) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  auto made = std::make_shared<CUgraph_st>(CUgraph_st{std::move(operations)});
  *graph = handles<CUgraph_st>().add(std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* user_data) {
  SACCADE_BEGIN(cuLaunchHostFunc, Needs::kContext);
  return enqueue(stream, [=] {
    set_in_host_function(true);
    function(user_data);
    set_in_host_function(false);
    return CUDA_SUCCESS;
  });
}

}  // namespace saccade::cuda
