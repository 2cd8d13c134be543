#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "cuda/driver/driver.hpp"

// RAII owners of driver objects. Creation and destruction need the device's context current on the calling thread.
namespace saccade::cuda {

/// Deleter that calls FUNCTION of the driver and ignores its result.
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

/// A non-blocking stream: it does not synchronise with the legacy default stream.
Stream make_stream();
Event make_event(unsigned flags);
/// Pinned host memory that is mapped into the device's address space; at least one byte. Throws Error (kDevice).
PinnedMemory make_pinned(std::size_t bytes);

/// Device memory, 256-byte aligned. Move-only.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// At least one byte. Throws Error (kDevice) with the requested and the free size.
  explicit DeviceMemory(std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  CUdeviceptr address() const { return address_; }
  /// As views of the IR hold it; not to be dereferenced on the host.
  std::byte* pointer() const { return reinterpret_cast<std::byte*>(address_); }  // NOLINT(performance-no-int-to-ptr)
  std::size_t bytes() const { return bytes_; }

 private:
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

/// A copy of BYTES on the device, complete on return. Throws Error (kDevice).
DeviceMemory upload(std::span<const std::byte> bytes);

/// The device address in a view.
inline CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace saccade::cuda
