#include "serve/cuda_region.hpp"

#include "base/error.hpp"

namespace saccade::serve {
namespace {

std::unique_ptr<SharedGpuMemory> open(int gpu, std::string_view handle) {
  if (handle.size() != kGpuMemoryHandleBytes)
    fail(ErrorCode::kInvalidArgument, "the handle has {} bytes, not {}", handle.size(), kGpuMemoryHandleBytes);
  try {
    return open_gpu_memory(gpu, GpuMemoryHandle(std::as_bytes(std::span(handle))));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    fail(ErrorCode::kInvalidArgument, "the server has no GPU {}", gpu);
  }
}

}  // namespace

CudaRegion::CudaRegion(RegionInfo given, std::string_view handle)
    : MemoryRegion(std::move(given)), memory_(open(info().gpu.value(), handle)) {
  if (info().bytes > memory_->bytes())
    fail(ErrorCode::kInvalidArgument, "the region '{}' has {} bytes, and the memory of the handle {}", info().name,
         info().bytes, memory_->bytes());
}

}  // namespace saccade::serve
