#pragma once

#include <memory>
#include <optional>
#include <string>

#include "media/v4l2/device.hpp"

namespace saccade::v4l2 {

/// The path of the camera that was opened as PATH and was IDENTITY, which may have another number now. Nothing while it
/// is away.
std::optional<std::string> find_again(const std::shared_ptr<SystemCalls>& calls, const std::string& path,
                                      const DeviceIdentity& identity);

}  // namespace saccade::v4l2
