#include "driver_functions.hpp"
#include "state.hpp"

// Events: a piece of work takes a microsecond.
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

CUresult cuEventRecord(CUevent event, CUstream stream) {
  SACCADE_BEGIN(cuEventRecord, Needs::kContext);
  if (handles<CUevent_st>().find(event) == nullptr) return kInvalidHandle;
  event->time->recorded = true;
  event->time->done = false;
  return enqueue(stream, [time = event->time] {
    time->tick = ticks();
    time->done = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  SACCADE_BEGIN(cuEventElapsedTime, Needs::kContext);
  for (CUevent event : {start, end})
    if (handles<CUevent_st>().find(event) == nullptr || !event->timed || !event->time->recorded) return kInvalidHandle;
  if (!start->time->done || !end->time->done) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(end->time->tick - start->time->tick) * 1e-3F;
  return CUDA_SUCCESS;
}

}  // namespace saccade::cuda
