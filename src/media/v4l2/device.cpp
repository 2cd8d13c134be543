#include "media/v4l2/device.hpp"

#include <linux/videodev2.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace saccade::v4l2 {
namespace {

/// A text of the driver, which need not end with a zero.
template <std::size_t N>
std::string text_of(const unsigned char (&text)[N]) {
  std::size_t length = 0;
  while (length < N && text[length] != 0) ++length;
  return {reinterpret_cast<const char*>(text), length};
}

NodeKind kind_of(const v4l2_capability& capability) {
  const std::uint32_t own =
      (capability.capabilities & V4L2_CAP_DEVICE_CAPS) != 0 ? capability.device_caps : capability.capabilities;
  if ((own & V4L2_CAP_VIDEO_CAPTURE) != 0)
    return (own & V4L2_CAP_STREAMING) != 0 ? NodeKind::kCapture : NodeKind::kNoStreaming;
  return (own & V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0 ? NodeKind::kMultiplanar : NodeKind::kOther;
}

/// What the kernel says of the node PATH.
std::string system_folder(const SystemCalls& calls, const std::string& path) {
  const std::string node = calls.resolve(path);
  return "/sys/class/video4linux/" + node.substr(node.rfind('/') + 1) + "/";
}

[[noreturn]] void cannot_open(const std::shared_ptr<SystemCalls>& calls, const std::string& path, int error) {
  switch (-error) {
    case ENOENT:
    case ENODEV:
    case ENXIO: fail(ErrorCode::kNotFound, "there is no camera '{}'; {}", path, what_there_is(calls));
    case EACCES:
    case EPERM:
      fail(ErrorCode::kIo,
           "the camera '{}' may not be opened: {}; add the user to its group (`sudo usermod -aG video $USER`) and log "
           "in again",
           path, error_text(error));
    case EBUSY: fail(ErrorCode::kDevice, "the camera '{}' is in use by another program: end that", path);
    default: fail(ErrorCode::kIo, "the camera '{}' can't be opened: {}", path, error_text(error));
  }
}

}  // namespace

std::string error_text(int error) { return std::generic_category().message(std::abs(error)); }

bool is_same(const DeviceIdentity& a, const DeviceIdentity& b) {
  if (a.driver != b.driver || a.card != b.card || a.index != b.index) return false;
  const bool is_by_serial = !a.serial.empty() && !b.serial.empty() && !a.has_twin && !b.has_twin;
  return is_by_serial ? a.serial == b.serial : a.bus == b.bus;
}

std::string serial_of(const SystemCalls& calls, const std::string& path) {
  // The device of a USB camera is one interface of it. Of others, the folder above is that of the bus.
  return calls.read_text(system_folder(calls, path) + "device/../serial");
}

Device::Device(std::shared_ptr<SystemCalls> calls, const std::string& path) : calls_(std::move(calls)), path_(path) {
  descriptor_ = calls_->open(path);
  if (descriptor_ < 0) cannot_open(calls_, path, descriptor_);
  try {
    identify();
  } catch (...) {
    calls_->close(descriptor_);
    throw;
  }
}

Device::Device(Device&& other) noexcept
    : calls_(std::move(other.calls_)),
      path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      identity_(std::move(other.identity_)),
      kind_(other.kind_) {}

Device::~Device() {
  if (descriptor_ >= 0) calls_->close(descriptor_);
}

void Device::identify() {
  v4l2_capability capability{};
  const int error = control(VIDIOC_QUERYCAP, &capability);
  if (error == -ENODEV) cannot_open(calls_, path_, error);
  if (error != 0) fail(ErrorCode::kInvalidArgument, "'{}' is not a camera; {}", path_, what_there_is(calls_));
  kind_ = kind_of(capability);
  identity_.driver = text_of(capability.driver);
  identity_.card = text_of(capability.card);
  identity_.bus = text_of(capability.bus_info);
  identity_.index = calls_->read_text(system_folder(*calls_, path_) + "index");
  identity_.serial = serial_of(*calls_, path_);
}

void Device::stop_stream() const noexcept {
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  control(VIDIOC_STREAMOFF, &type);
}

void Device::check_capture() const {
  switch (kind_) {
    case NodeKind::kCapture: return;
    case NodeKind::kMultiplanar:
      fail(ErrorCode::kUnsupported,
           "{} has a multi-planar interface only, which is not supported; use another camera, or a driver with the "
           "single-planar one",
           name());
    case NodeKind::kNoStreaming:
      fail(ErrorCode::kUnsupported, "{} can't stream, which its driver lacks; use another camera", name());
    case NodeKind::kOther:
      fail(ErrorCode::kInvalidArgument, "{} does not capture video: its node is for metadata or output; {}", name(),
           what_there_is(calls_));
  }
}

void Device::refused(const char* what, int error) const {
  switch (-error) {
    case EBUSY: fail(ErrorCode::kDevice, "{} is in use by another program: end that", name());
    case ENODEV: fail(ErrorCode::kDevice, "{} was unplugged", name());
    case ENOSPC:
      fail(ErrorCode::kDevice,
           "{}: {}: the USB bus has no bandwidth left; use a smaller size, a lower rate or format=MJPEG, or another "
           "port",
           name(), what);
    default: fail(ErrorCode::kDevice, "{}: {}: {}", name(), what, error_text(error));
  }
}

std::vector<FoundCamera> find_cameras(const std::shared_ptr<SystemCalls>& calls) {
  std::vector<FoundCamera> found;
  for (const std::string& path : calls->devices()) {
    try {
      const Device device(calls, path);
      if (device.kind() == NodeKind::kCapture) found.push_back({path, device.identity()});
    } catch (const Error&) {  // another program's, or it went away since
      continue;
    }
  }
  return found;
}

std::string what_there_is(const std::shared_ptr<SystemCalls>& calls) {
  std::string names;
  for (const std::string& path : calls->devices()) {
    // Opened without Device, whose errors end with this very text.
    const int descriptor = calls->open(path);
    if (descriptor < 0) continue;
    v4l2_capability capability{};
    if (calls->control(descriptor, VIDIOC_QUERYCAP, &capability) == 0 && kind_of(capability) == NodeKind::kCapture)
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", path, text_of(capability.card));
    calls->close(descriptor);
  }
  return names.empty() ? "no camera is connected, or none may be opened" : "the cameras are " + names;
}

}  // namespace saccade::v4l2
