#pragma once

#include <memory>
#include <string_view>

#include "runtime/cuda_backend.hpp"
#include "serve/memory_region.hpp"

namespace saccade::serve {

/// Memory of a GPU that another process has allocated.
class CudaRegion final : public MemoryRegion {
 public:
  /// Opens the memory of HANDLE, the bytes of a CUipcMemHandle. Throws Error (kInvalidArgument) if the driver does not
  /// accept it, there is no such GPU, or the memory is smaller than INFO says; (kDevice) if the GPU fails.
  CudaRegion(RegionInfo info, std::string_view handle);

  std::byte* on_device() const override { return memory_->address(); }
  void read(std::uint64_t offset, std::span<std::byte> to) const override { memory_->read(offset, to); }
  void write(std::uint64_t offset, std::span<const std::byte> from) const override { memory_->write(offset, from); }

 private:
  std::unique_ptr<SharedGpuMemory> memory_;
};

}  // namespace saccade::serve
