#include "media/v4l2/find_again.hpp"

#include "base/error.hpp"

namespace saccade::v4l2 {
namespace {

/// IDENTITY of the camera at PATH where it captures; nothing if it can't be opened.
std::optional<DeviceIdentity> capturing(const std::shared_ptr<SystemCalls>& calls, const std::string& path) {
  try {
    const Device device(calls, path);
    if (device.kind() == NodeKind::kCapture) return device.identity();
  } catch (const Error&) {  // away, or another program's
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_again(const std::shared_ptr<SystemCalls>& calls, const std::string& path,
                                      const DeviceIdentity& identity) {
  if (const auto there = capturing(calls, path)) {
    // A link by ID names the camera wherever it is connected.
    const bool is_named = path.starts_with("/dev/v4l/by-id/") && there->card == identity.card;
    if (is_named || is_same(*there, identity)) return path;
  }
  for (const std::string& other : calls->devices()) {
    const auto there = capturing(calls, other);
    if (there && is_same(*there, identity)) return other;
  }
  return std::nullopt;
}

}  // namespace saccade::v4l2
