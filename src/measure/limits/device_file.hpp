#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "measure/limits/ceilings.hpp"
#include "measure/limits/frame_period.hpp"

namespace saccade {

/// A device description (see docs/limits.md).
struct DeviceFile {
  Ceilings ceilings;
  std::optional<CameraMode> camera;
  std::optional<double> bus_rate;  ///< bytes per second from the camera
};

/// Throws Error (kNotFound, kInvalidFile) naming the file, and line and key of what is invalid.
DeviceFile read_device_file(const std::string& path);
/// A file that reads back as the same ceilings.
std::string to_toml(const Ceilings& ceilings);

/// Rates in operations and bytes per second, capacities in bytes, times in nanoseconds.
nlohmann::ordered_json to_json(const Ceilings& ceilings);
/// Throws Error (kInvalidFile) unless JSON is what to_json() writes.
Ceilings ceilings_from_json(const nlohmann::ordered_json& json);

}  // namespace saccade
