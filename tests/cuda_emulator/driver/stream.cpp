#include <algorithm>
#include <atomic>
#include <utility>

#include "driver/driver_functions.hpp"
#include "driver/state.hpp"

// Streams and their capture, events, host functions.
namespace saccade::emulator {
namespace {

std::atomic<long long> done{0};  // pieces of work completed

bool captures_here(const CUstream_st& stream) {
  return stream.capturing && stream.capturer == std::this_thread::get_id();
}

/// Ends the capture of streams that forked from ORIGIN; false if it has unjoined work.
bool end_branches(const std::shared_ptr<CUstream_st>& origin) {
  bool joined = true;
  for (const auto& stream : std::exchange(origin->branches, {})) {
    const std::scoped_lock lock(stream->mutex);
    joined = joined && stream->joined > stream->last_captured;
    origin->invalidated = origin->invalidated || stream->invalidated;
    stream->origin = nullptr;
    stream->capturing = stream->invalidated = false;
    stream->joined = stream->last_captured = 0;
    stream->awaited.clear();
  }
  return joined;
}

}  // namespace

long long ticks() { return done; }

bool is_capturing(CUstream stream) {
  const auto found = handles<CUstream_st>().find(stream);
  if (found == nullptr) return false;
  const std::scoped_lock lock(found->mutex);
  return found->capturing;
}

bool invalidate_captures() {
  bool any = false;
  for (const auto& stream : handles<CUstream_st>().all()) {
    const std::scoped_lock lock(stream->mutex);
    if (!captures_here(*stream)) continue;
    stream->invalidated = true;
    any = true;
  }
  return any;
}

CUresult enqueue(CUstream handle, Operation operation) {
  const auto stream = handles<CUstream_st>().find(handle);
  if (stream == nullptr) return kInvalidHandle;
  const std::scoped_lock lock(stream->mutex);
  if (stream->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!stream->capturing) {
    stream->pending.push_back(std::move(operation));
    return CUDA_SUCCESS;
  }
  // Single-threaded, so a branch's work follows what it waited for.
  std::vector<Operation>& captured = (stream->origin != nullptr ? *stream->origin : *stream).captured;
  captured.push_back(std::move(operation));
  stream->last_captured = captured.size();
  return CUDA_SUCCESS;
}

/// The origin waits for so much WORK of STREAM, and so for what that has waited for.
void join(CUstream_st& stream, std::size_t work) {
  if (stream.joined >= work) return;
  stream.joined = work;
  for (const auto& [other, part] : stream.awaited) join(*other, part);
}

CUresult wait_for(CUstream handle, const std::shared_ptr<CUevent_st::Record>& record) {
  const auto stream = handles<CUstream_st>().find(handle);
  const auto recorded = record->stream.lock();
  if (stream == nullptr) return kInvalidHandle;
  if (!record->captured) {
    if (is_capturing(handle)) return kCaptureUnsupported;
    // Later work of that stream may wait for this one.
    return enqueue(handle, [record, recorded] {
      return record->done || recorded == nullptr ? CUDA_SUCCESS : drain(*recorded, record.get());
    });
  }
  if (recorded == nullptr || !is_capturing(recorded.get())) return kCapturedEvent;
  const auto origin = recorded->origin != nullptr ? recorded->origin : recorded;
  const std::scoped_lock lock(stream->mutex);
  if (stream == origin) {
    join(*recorded, record->place + 1);
    return CUDA_SUCCESS;
  }
  if (recorded != origin) stream->awaited.emplace_back(recorded, record->place + 1);
  if (!stream->capturing) {
    stream->capturing = true;
    stream->capturer = std::this_thread::get_id();
    stream->origin = origin;
    origin->branches.push_back(stream);
  }
  return CUDA_SUCCESS;
}

CUresult run(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    if (const CUresult result = operation(); result != CUDA_SUCCESS) return result;
    ++done;
  }
  return CUDA_SUCCESS;
}

CUresult drain(CUstream_st& stream, const CUevent_st::Record* record) {
  const std::scoped_lock running(stream.running);
  while (record == nullptr || !record->done) {
    Operation operation;
    {
      const std::scoped_lock lock(stream.mutex);
      if (stream.pending.empty()) break;
      operation = std::move(stream.pending.front());
      stream.pending.pop_front();
    }
    if (const CUresult result = run({std::move(operation)}); result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
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
      stream->invalidated = true;
      return kCaptureUnsupported;
    }
  }
  return drain(*stream);
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  SACCADE_BEGIN(cuStreamIsCapturing, Needs::kContext);
  const auto stream = handles<CUstream_st>().find(handle);
  if (stream == nullptr) return kInvalidHandle;
  const std::scoped_lock lock(stream->mutex);
  *status = static_cast<CUstreamCaptureStatus>(stream->capturing ? 1 : 0);
  return CUDA_SUCCESS;
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
  if (!stream->capturing || stream->origin != nullptr) return kIllegalState;
  if (!captures_here(*stream)) return kCaptureWrongThread;
  const bool is_joined = end_branches(stream);
  stream->capturing = false;
  stream->last_captured = 0;
  auto operations = std::exchange(stream->captured, {});
  if (std::exchange(stream->invalidated, false)) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!is_joined) return kCaptureUnjoined;
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
