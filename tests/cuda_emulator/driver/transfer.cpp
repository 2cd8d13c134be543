#include <cstring>
#include <memory>
#include <vector>

#include "driver/driver_functions.hpp"
#include "driver/state.hpp"

// Copies and memset.
namespace saccade::emulator {
namespace {

std::byte* pointer(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }

/// Work on device memory, which must still be allocated when it executes.
CUresult enqueue_on(CUstream stream, CUdeviceptr address, std::size_t bytes, std::function<void()> work) {
  if (bytes > 0 && !is_device_memory(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, [=, work = std::move(work)] {
    if (bytes > 0 && !is_device_memory(address, bytes)) return break_device(CUDA_ERROR_ILLEGAL_ADDRESS);
    work();
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  SACCADE_BEGIN(cuMemcpyHtoD_v2, Needs::kNoCapture);
  if (bytes > 0 && !is_device_memory(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(pointer(to), from, bytes);
  if (bytes > 0) note_upload(to);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  SACCADE_BEGIN(cuMemcpyHtoDAsync_v2, Needs::kContext);
  note_work_on(to);
  if (!is_pinned(from) && !is_capturing(stream)) {  // pageable memory is read before the call returns
    const auto* first = static_cast<const std::byte*>(from);
    const auto staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    return enqueue_on(stream, to, bytes, [=] { std::memcpy(pointer(to), staged->data(), bytes); });
  }
  return enqueue_on(stream, to, bytes, [=] { std::memcpy(pointer(to), from, bytes); });
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  SACCADE_BEGIN(cuMemcpyDtoHAsync_v2, Needs::kContext);
  if (is_pinned(to)) note_work_on(reinterpret_cast<CUdeviceptr>(to));
  return enqueue_on(stream, from, bytes, [=] { std::memcpy(to, pointer(from), bytes); });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  SACCADE_BEGIN(cuMemcpyDtoDAsync_v2, Needs::kContext);
  note_work_on(to);
  if (bytes > 0 && !is_device_memory(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue_on(stream, to, bytes, [=] { std::memmove(pointer(to), pointer(from), bytes); });
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* given, CUstream stream) {
  SACCADE_BEGIN(cuMemcpy2DAsync_v2, Needs::kContext);
  const CUDA_MEMCPY2D copy = *given;
  if (copy.srcMemoryType != CU_MEMORYTYPE_DEVICE || copy.dstMemoryType != CU_MEMORYTYPE_DEVICE) return kNotSupported;
  if (copy.srcPitch < copy.srcXInBytes + copy.WidthInBytes || copy.dstPitch < copy.dstXInBytes + copy.WidthInBytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (copy.WidthInBytes == 0 || copy.Height == 0) return CUDA_SUCCESS;
  const CUdeviceptr from = copy.srcDevice + copy.srcY * copy.srcPitch + copy.srcXInBytes;
  const CUdeviceptr to = copy.dstDevice + copy.dstY * copy.dstPitch + copy.dstXInBytes;
  const std::size_t bytes_from = (copy.Height - 1) * copy.srcPitch + copy.WidthInBytes;
  const std::size_t bytes_to = (copy.Height - 1) * copy.dstPitch + copy.WidthInBytes;
  note_work_on(to);
  if (!is_device_memory(from, bytes_from)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue_on(stream, to, bytes_to, [=] {
    for (std::size_t y = 0; y < copy.Height; ++y)
      std::memcpy(pointer(to + y * copy.dstPitch), pointer(from + y * copy.srcPitch), copy.WidthInBytes);
  });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  SACCADE_BEGIN(cuMemsetD8Async, Needs::kContext);
  note_work_on(to);
  return enqueue_on(stream, to, bytes, [=] { std::memset(pointer(to), value, bytes); });
}

}  // namespace saccade::cuda
