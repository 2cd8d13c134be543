#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "media/v4l2/camera_options.hpp"
#include "media/v4l2/device.hpp"

namespace saccade::v4l2 {

/// A control of a camera.
struct Control {
  enum class Kind { kInteger, kBoolean, kMenu, kButton };

  std::uint32_t id = 0;
  std::string name;  ///< "exposure_time_absolute", as v4l2-ctl prints it
  Kind kind = Kind::kInteger;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t step = 1;
  std::int64_t initial = 0;
  bool is_read_only = false;
  std::vector<std::pair<std::int64_t, std::string>> items;  ///< of a menu: what a value stands for
};

/// Those that can be set by a number or a name.
std::vector<Control> controls_of(const Device& device);

/// Sets SETTINGS in their order. Throws Error (kInvalidArgument) naming the control and its valid values if there is
/// none of that name or the value is invalid, and (kDevice) if the camera refuses it.
void set_controls(const Device& device, std::span<const ControlSetting> settings);

/// The value of CONTROL; its initial one if the driver does not tell.
std::int64_t value_now(const Device& device, const Control& control);

/// "from 0 to 255", "one of manual_mode (1), aperture_priority_mode (3)"
std::string valid_values(const Control& control);

}  // namespace saccade::v4l2
