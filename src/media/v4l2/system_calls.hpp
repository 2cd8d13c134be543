#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace saccade::v4l2 {

/// What SystemCalls::wait() saw.
struct Readiness {
  bool has_frame = false;       ///< a buffer can be taken, or taking one reports an error
  bool has_event = false;       ///< an event can be taken
  bool is_interrupted = false;  ///< interrupt() was called
};

/// The system calls that a camera needs. Tests replace them. One thread uses them, except where stated.
class SystemCalls {
 public:
  /// Readable bytes that follow a mapped buffer, as those of FrameMemory::allocate().
  static constexpr std::size_t kSlack = 64;

  virtual ~SystemCalls() = default;
  /// Opens a device for reading and writing, without waiting. A descriptor, or the negative error number.
  virtual int open(const std::string& path) noexcept = 0;
  virtual void close(int device) noexcept = 0;
  /// ioctl(), repeated while a signal interrupts it. 0, or the negative error number. Any thread.
  virtual int control(int device, std::uint64_t request, void* argument) noexcept = 0;
  /// Maps BYTES of DEVICE at OFFSET, followed by kSlack readable bytes. Null where it is refused.
  virtual std::byte* map(int device, std::size_t bytes, std::int64_t offset) noexcept = 0;
  /// Any thread.
  virtual void unmap(std::byte* memory, std::size_t bytes) noexcept = 0;
  /// Waits until DEVICE has something, interrupt() was called, or TIMEOUT has passed. -1: no device.
  virtual Readiness wait(int device, std::chrono::nanoseconds timeout) noexcept = 0;
  /// Ends the current wait and all later ones at once. Any thread.
  virtual void interrupt() noexcept = 0;
  virtual Clock::time_point now() const noexcept = 0;
  /// The paths /dev/videoN, by N.
  virtual std::vector<std::string> devices() const = 0;
  /// PATH without links; PATH if there is no such file.
  virtual std::string resolve(const std::string& path) const = 0;
  /// A file of sysfs without its last line break; empty if there is none.
  virtual std::string read_text(const std::string& path) const = 0;
};

/// Those of Linux. Throws Error (kIo) if the process has no descriptor left.
std::shared_ptr<SystemCalls> linux_calls();

}  // namespace saccade::v4l2
