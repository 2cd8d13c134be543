#pragma once

#include <memory>
#include <optional>
#include <string>

#include "media/v4l2/device.hpp"

namespace saccade::v4l2 {

/// Whether a camera elsewhere than IDENTITY has its serial number, too. Opens only cameras with that number.
bool has_twin(const std::shared_ptr<SystemCalls>& calls, const DeviceIdentity& identity);

/// The path of the camera that was opened as PATH and was IDENTITY, which may have another number now. One that is
/// connected where it was comes before one that was moved; of several that were moved, none is it for certain. Nothing
/// while it is away.
std::optional<std::string> find_again(const std::shared_ptr<SystemCalls>& calls, const std::string& path,
                                      const DeviceIdentity& identity);

}  // namespace saccade::v4l2
