#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "media/v4l2/system_calls.hpp"

namespace saccade::v4l2 {

/// Which camera it is, whatever its number.
struct DeviceIdentity {
  std::string driver;     ///< "uvcvideo"
  std::string card;       ///< the camera's name
  std::string bus;        ///< where it is connected
  std::string serial;     ///< of a USB device; empty: unknown
  std::string index;      ///< among the nodes of one device
  bool has_twin = false;  ///< another camera has the same serial number, as cheap ones do: it says nothing
};
/// Whether A and B are the same camera: by the serial number where both have one of their own, else by where it is
/// connected.
bool is_same(const DeviceIdentity& a, const DeviceIdentity& b);

/// What a node of the system is for.
enum class NodeKind {
  kCapture,
  kMultiplanar,  ///< captures, with planes in buffers of their own
  kNoStreaming,  ///< captures by read() only
  kOther,        ///< metadata, output, radio
};

/// An open camera. Move-only.
class Device {
 public:
  /// Throws Error naming PATH if it is missing, forbidden, in use or not a V4L2 device.
  Device(std::shared_ptr<SystemCalls> calls, const std::string& path);
  Device(Device&& other) noexcept;
  Device& operator=(Device&&) = delete;
  ~Device();

  /// 0, or the negative error number.
  int control(std::uint64_t request, void* argument) const { return calls_->control(descriptor_, request, argument); }
  int descriptor() const { return descriptor_; }
  SystemCalls& calls() const { return *calls_; }
  const std::string& path() const { return path_; }
  const DeviceIdentity& identity() const { return identity_; }
  NodeKind kind() const { return kind_; }
  /// "/dev/video0 (HD Webcam)"
  std::string name() const { return path_ + " (" + identity_.card + ")"; }
  void stop_stream() const noexcept;
  /// Throws Error naming the device unless it is kCapture.
  void check_capture() const;
  /// Throws Error (kDevice, kIo) that WHAT was refused with ERROR, a negative error number.
  [[noreturn]] void refused(const char* what, int error) const;

 private:
  void identify();

  std::shared_ptr<SystemCalls> calls_;
  std::string path_;
  int descriptor_ = -1;
  DeviceIdentity identity_;
  NodeKind kind_ = NodeKind::kOther;
};

/// A camera of this machine.
struct FoundCamera {
  std::string path;
  DeviceIdentity identity;
};
/// Those that capture, by number. A device that can't be opened is not among them.
std::vector<FoundCamera> find_cameras(const std::shared_ptr<SystemCalls>& calls);
/// The serial number of the USB device that has the node PATH; empty: unknown. Does not open it.
std::string serial_of(const SystemCalls& calls, const std::string& path);
/// "the cameras are /dev/video0 (HD Webcam), ...", or that there is none.
std::string what_there_is(const std::shared_ptr<SystemCalls>& calls);

/// "Device or resource busy" for a positive or negative error number.
std::string error_text(int error);

}  // namespace saccade::v4l2
