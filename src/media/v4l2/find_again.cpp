#include "media/v4l2/find_again.hpp"

#include <vector>

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
    // A link by ID names the camera wherever it is connected, but for one whose twin may have taken the link.
    const bool is_named = path.starts_with("/dev/v4l/by-id/") && there->card == identity.card && !identity.has_twin;
    if (is_named || (is_same(*there, identity) && there->bus == identity.bus)) return path;
  }
  std::vector<std::string> moved;
  for (const std::string& other : calls->devices()) {
    const auto there = capturing(calls, other);
    if (!there || !is_same(*there, identity)) continue;
    if (there->bus == identity.bus) return other;
    moved.push_back(other);
  }
  return moved.size() == 1 ? std::optional(moved.front()) : std::nullopt;
}

bool has_twin(const std::shared_ptr<SystemCalls>& calls, const DeviceIdentity& identity) {
  if (identity.serial.empty()) return false;
  for (const std::string& path : calls->devices()) {
    if (serial_of(*calls, path) != identity.serial) continue;
    const auto there = capturing(calls, path);
    if (there && is_same(*there, identity) && there->bus != identity.bus) return true;
  }
  return false;
}

}  // namespace saccade::v4l2
