#include "cuda/driver/shared_memory.hpp"

#include <cstring>

#include "base/error.hpp"
#include "base/log.hpp"
#include "cuda/driver/device.hpp"
#include "cuda/driver/handles.hpp"

namespace saccade::cuda {
namespace {

class ImportedMemory final : public SharedGpuMemory {
 public:
  ImportedMemory(Device& device, const CUipcMemHandle& handle) : device_(device) {
    device.make_current();
    open(handle);
    try {
      CUdeviceptr base = 0;
      std::size_t whole = 0;
      SACCADE_CUDA(cuMemGetAddressRange_v2(&base, &whole, address_));
      bytes_ = whole - static_cast<std::size_t>(address_ - base);
      stream_ = make_stream();
    } catch (...) {
      close();
      throw;
    }
  }
  ~ImportedMemory() override {
    static_cast<void>(driver().cuCtxSetCurrent(device_.context()));
    stream_.reset();
    close();
  }
  ImportedMemory(const ImportedMemory&) = delete;
  ImportedMemory& operator=(const ImportedMemory&) = delete;

  std::byte* address() const override {
    return reinterpret_cast<std::byte*>(address_);  // NOLINT(performance-no-int-to-ptr)
  }
  std::size_t bytes() const override { return bytes_; }

  void read(std::size_t offset, std::span<std::byte> to) const override {
    device_.make_current();
    SACCADE_CUDA(cuMemcpyDtoHAsync_v2(to.data(), address_ + offset, to.size(), stream_.get()));
    SACCADE_CUDA(cuStreamSynchronize(stream_.get()));
  }

  void write(std::size_t offset, std::span<const std::byte> from) const override {
    device_.make_current();
    SACCADE_CUDA(cuMemcpyHtoDAsync_v2(address_ + offset, from.data(), from.size(), stream_.get()));
    SACCADE_CUDA(cuStreamSynchronize(stream_.get()));
  }

 private:
  void open(const CUipcMemHandle& handle) {
    const CUresult result = driver().cuIpcOpenMemHandle_v2(&address_, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    switch (result) {
      case CUDA_SUCCESS: return;
      case CUDA_ERROR_OUT_OF_MEMORY:
      case CUDA_ERROR_ECC_UNCORRECTABLE:
      case CUDA_ERROR_ILLEGAL_ADDRESS:
      case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      case CUDA_ERROR_LAUNCH_FAILED: check(result, "cuIpcOpenMemHandle"); break;
      default: break;
    }
    // Several codes, which depend on the driver's version, say that something is wrong with the handle.
    log(LogLevel::kDebug, "cuIpcOpenMemHandle: {}", static_cast<int>(result));
    fail(ErrorCode::kInvalidArgument,
         "the handle is not of memory that another process of this machine, with the same IPC and PID namespace, has "
         "allocated on the GPU {}",
         device_.ordinal());
  }
  void close() const { static_cast<void>(driver().cuIpcCloseMemHandle(address_)); }

  Device& device_;
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
  Stream stream_;
};

}  // namespace

std::unique_ptr<SharedGpuMemory> open_memory(int ordinal, GpuMemoryHandle handle) {
  static_assert(sizeof(CUipcMemHandle) == kGpuMemoryHandleBytes);
  CUipcMemHandle given;
  std::memcpy(&given, handle.data(), handle.size());
  return std::make_unique<ImportedMemory>(Device::get(ordinal), given);
}

}  // namespace saccade::cuda
