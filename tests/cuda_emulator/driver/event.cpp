#include "driver/driver_functions.hpp"
#include "driver/state.hpp"

// Events: each piece of work counts as one microsecond.
namespace saccade::cuda {

using namespace emulator;

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  SACCADE_BEGIN(cuEventCreate, Needs::kContext);
  auto made = std::make_shared<CUevent_st>();
  made->timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  *event = handles<CUevent_st>().add(std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  SACCADE_BEGIN(cuEventDestroy_v2, Needs::kContext);
  return handles<CUevent_st>().take(event) == nullptr ? kInvalidHandle : CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
  SACCADE_BEGIN(cuEventRecord, Needs::kContext);
  const auto stream = handles<CUstream_st>().find(handle);
  if (handles<CUevent_st>().find(event) == nullptr || stream == nullptr) return kInvalidHandle;
  auto record = std::make_shared<CUevent_st::Record>();
  record->stream = stream;
  event->record = record;
  {
    const std::scoped_lock lock(stream->mutex);
    record->captured = stream->capturing;
    record->place = stream->last_captured;
  }
  if (record->captured) return CUDA_SUCCESS;
  return enqueue(handle, [record] {
    record->tick = ticks();
    record->done = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  SACCADE_BEGIN(cuStreamWaitEvent, Needs::kContext);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (handles<CUevent_st>().find(event) == nullptr) return kInvalidHandle;
  return event->record == nullptr ? CUDA_SUCCESS : wait_for(stream, event->record);
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  SACCADE_BEGIN(cuEventElapsedTime, Needs::kContext);
  for (CUevent event : {start, end}) {
    if (handles<CUevent_st>().find(event) == nullptr || !event->timed || event->record == nullptr)
      return kInvalidHandle;
    if (event->record->captured) return kCapturedEvent;
  }
  if (!start->record->done || !end->record->done) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(end->record->tick - start->record->tick) * 1e-3F;
  return CUDA_SUCCESS;
}

}  // namespace saccade::cuda
