#include "cuda/driver/handles.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace saccade::cuda {

Stream make_stream() {
  CUstream stream = nullptr;
  SACCADE_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return Stream(stream);
}

Event make_event(unsigned flags) {
  CUevent event = nullptr;
  SACCADE_CUDA(cuEventCreate(&event, flags));
  return Event(event);
}

PinnedMemory make_pinned(std::size_t bytes) {
  void* address = nullptr;
  SACCADE_CUDA(
      cuMemHostAlloc(&address, std::max<std::size_t>(bytes, 1), CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  return PinnedMemory(address);
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  const CUresult result = driver().cuMemAlloc_v2(&address_, bytes_);
  if (result == CUDA_SUCCESS) return;
  std::size_t free = 0;
  std::size_t total = 0;
  static_cast<void>(driver().cuMemGetInfo_v2(&free, &total));
  try {
    check(result, "cuMemAlloc");
  } catch (const Error& error) {
    throw error.in(fmt::format("{:.1f} MB of device memory, of which {:.1f} of {:.1f} MB are free",
                               static_cast<double>(bytes_) / 1e6, static_cast<double>(free) / 1e6,
                               static_cast<double>(total) / 1e6));
  }
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (address_ != 0) static_cast<void>(driver().cuMemFree_v2(address_));
}

DeviceMemory upload(std::span<const std::byte> bytes) {
  DeviceMemory memory(bytes.size());
  if (!bytes.empty()) SACCADE_CUDA(cuMemcpyHtoD_v2(memory.address(), bytes.data(), bytes.size()));
  return memory;
}

}  // namespace saccade::cuda
