#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "cuda/driver/driver.hpp"

// Owners of what the driver hands out. Making and destroying one needs its device current on the calling thread.
namespace saccade::cuda {

/// Frees by FUNCTION of the driver; what it answers is of no use to anybody by then.
template <auto Function>
struct Destroy {
  template <typename Handle>
  void operator()(Handle* handle) const {
    static_cast<void>((driver().*Function)(handle));
  }
};

using Stream = std::unique_ptr<CUstream_st, Destroy<&DriverApi::cuStreamDestroy_v2>>;
using Event = std::unique_ptr<CUevent_st, Destroy<&DriverApi::cuEventDestroy_v2>>;
using GraphHandle = std::unique_ptr<CUgraph_st, Destroy<&DriverApi::cuGraphDestroy>>;
using GraphExec = std::unique_ptr<CUgraphExec_st, Destroy<&DriverApi::cuGraphExecDestroy>>;
using PinnedMemory = std::unique_ptr<void, Destroy<&DriverApi::cuMemFreeHost>>;

/// A stream of its own, which does not wait for the legacy one.
Stream make_stream();
Event make_event(unsigned flags);
/// Page-locked host memory that the device sees, too; at least one byte. Throws Error (kDevice).
PinnedMemory make_pinned(std::size_t bytes);

/// Memory on the device, 256-byte aligned. Move-only.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// At least one byte. Throws Error (kDevice) saying how much was asked for and is free.
  explicit DeviceMemory(std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  CUdeviceptr address() const { return address_; }
  /// As the IR's views hold it; nothing on the host may follow it.
  std::byte* pointer() const { return reinterpret_cast<std::byte*>(address_); }  // NOLINT(performance-no-int-to-ptr)
  std::size_t bytes() const { return bytes_; }

 private:
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

/// A copy of BYTES on the device, there when this returns. Throws Error (kDevice).
DeviceMemory upload(std::span<const std::byte> bytes);

/// The address that a view of device memory holds.
inline CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace saccade::cuda
