#include "media/v4l2/controls.hpp"

#include <linux/videodev2.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/error.hpp"

namespace saccade::v4l2 {
namespace {

/// "White Balance, Automatic" becomes "white_balance_automatic".
std::string option_name(std::string_view text) {
  std::string name;
  bool is_gap = false;
  for (const unsigned char c : text) {
    if (std::isalnum(c) == 0) {
      is_gap = !name.empty();
      continue;
    }
    if (std::exchange(is_gap, false)) name += '_';
    name += static_cast<char>(std::tolower(c));
  }
  return name;
}

std::string_view bounded(const char* text, std::size_t most) { return {text, strnlen(text, most)}; }

std::optional<Control::Kind> kind_of(std::uint32_t type) {
  switch (type) {
    case V4L2_CTRL_TYPE_INTEGER:
    case V4L2_CTRL_TYPE_INTEGER64:
    case V4L2_CTRL_TYPE_BITMASK: return Control::Kind::kInteger;
    case V4L2_CTRL_TYPE_BOOLEAN: return Control::Kind::kBoolean;
    case V4L2_CTRL_TYPE_MENU:
    case V4L2_CTRL_TYPE_INTEGER_MENU: return Control::Kind::kMenu;
    case V4L2_CTRL_TYPE_BUTTON: return Control::Kind::kButton;
    default: return std::nullopt;  // strings, and arrays of numbers
  }
}

void read_items(const Device& device, Control& control, bool of_numbers) {
  constexpr std::int64_t kMostItems = 256;
  const std::int64_t last = std::min(control.high, control.low + kMostItems);
  for (std::int64_t value = control.low; value <= last; ++value) {
    v4l2_querymenu item{};
    item.id = control.id;
    item.index = static_cast<std::uint32_t>(value);
    if (device.control(VIDIOC_QUERYMENU, &item) != 0) continue;  // this value is not offered
    control.items.emplace_back(
        value, of_numbers ? std::to_string(item.value)
                          : option_name(bounded(reinterpret_cast<const char*>(item.name), sizeof(item.name))));
  }
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> value_of(const Control& control, const std::string& text) {
  if (control.kind == Control::Kind::kMenu)
    for (const auto& [value, name] : control.items)
      if (option_name(text) == name) return value;
  if (control.kind == Control::Kind::kBoolean && (text == "true" || text == "on")) return 1;
  if (control.kind == Control::Kind::kBoolean && (text == "false" || text == "off")) return 0;
  const std::optional<std::int64_t> value = integer_of(text);
  if (!value || control.kind == Control::Kind::kButton) return value;
  if (*value < control.low || *value > control.high) return std::nullopt;
  if (control.kind == Control::Kind::kMenu &&
      std::ranges::none_of(control.items, [&](const auto& item) { return item.first == *value; }))
    return std::nullopt;
  return value;
}

std::string names_of(std::span<const Control> controls) {
  std::string names;
  for (const Control& control : controls)
    if (!control.is_read_only) names += fmt::format("{}{}", names.empty() ? "" : ", ", control.name);
  return names.empty() ? "it has no controls" : "its controls are " + names;
}

bool has_32_bits(const Control& control) { return control.high <= INT32_MAX && control.low >= INT32_MIN; }

void set_control(const Device& device, const Control& control, std::int64_t value) {
  v4l2_ext_control setting{};
  setting.id = control.id;
  setting.value64 = value;
  // A union: 32 bits are not the lower half of 64 on every machine.
  if (has_32_bits(control)) setting.value = static_cast<std::int32_t>(value);
  v4l2_ext_controls settings{};
  settings.which = V4L2_CTRL_WHICH_CUR_VAL;
  settings.count = 1;
  settings.controls = &setting;
  const int error = device.control(VIDIOC_S_EXT_CTRLS, &settings);
  if (error != 0)
    fail(ErrorCode::kDevice, "{}: {}={} is refused: {}", device.name(), control.name, value, error_text(error));
}

}  // namespace

std::vector<Control> controls_of(const Device& device) {
  constexpr std::uint32_t kNext = V4L2_CTRL_FLAG_NEXT_CTRL;
  std::vector<Control> controls;
  v4l2_query_ext_ctrl query{};
  std::uint32_t last = 0;
  for (query.id = kNext; device.control(VIDIOC_QUERY_EXT_CTRL, &query) == 0; query.id |= kNext) {
    if (query.id <= last) break;  // a driver that begins again would keep us
    last = query.id;
    const std::optional<Control::Kind> kind = kind_of(query.type);
    if (!kind || (query.flags & V4L2_CTRL_FLAG_DISABLED) != 0) continue;
    Control control{.id = query.id,
                    .name = option_name(bounded(query.name, sizeof(query.name))),
                    .kind = *kind,
                    .low = query.minimum,
                    .high = query.maximum,
                    .step = static_cast<std::int64_t>(query.step),
                    .initial = query.default_value,
                    .is_read_only = (query.flags & V4L2_CTRL_FLAG_READ_ONLY) != 0};
    // The driver gives a mask of bits without a lowest value.
    if (query.type == V4L2_CTRL_TYPE_BITMASK) control.low = 0;
    if (control.kind == Control::Kind::kMenu) read_items(device, control, query.type == V4L2_CTRL_TYPE_INTEGER_MENU);
    controls.push_back(std::move(control));
  }
  return controls;
}

std::int64_t value_now(const Device& device, const Control& control) {
  v4l2_ext_control setting{};
  setting.id = control.id;
  v4l2_ext_controls settings{};
  settings.which = V4L2_CTRL_WHICH_CUR_VAL;
  settings.count = 1;
  settings.controls = &setting;
  if (device.control(VIDIOC_G_EXT_CTRLS, &settings) != 0) return control.initial;
  return has_32_bits(control) ? setting.value : setting.value64;
}

std::string valid_values(const Control& control) {
  switch (control.kind) {
    case Control::Kind::kBoolean: return "0 or 1";
    case Control::Kind::kButton: return "1";
    case Control::Kind::kMenu: {
      std::string names;
      constexpr std::size_t kShown = 24;
      for (const auto& [value, name] : std::span(control.items).first(std::min(control.items.size(), kShown)))
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, value);
      const std::size_t more = control.items.size() - std::min(control.items.size(), kShown);
      return fmt::format("one of {}{}", names, more == 0 ? "" : fmt::format(" and {} more", more));
    }
    case Control::Kind::kInteger: break;
  }
  return fmt::format("from {} to {}", control.low, control.high);
}

void set_controls(const Device& device, std::span<const ControlSetting> settings) {
  if (settings.empty()) return;
  const std::vector<Control> controls = controls_of(device);
  for (const ControlSetting& setting : settings) {
    const auto found = std::ranges::find(controls, setting.name, &Control::name);
    if (found == controls.end())
      fail(ErrorCode::kInvalidArgument,
           "{} has no option or control '{}'; the options are size, fps, format, io and buffers, and {}", device.name(),
           setting.name, names_of(controls));
    if (found->is_read_only)
      fail(ErrorCode::kInvalidArgument, "{}: the control '{}' can only be read", device.name(), setting.name);
    const std::optional<std::int64_t> value = value_of(*found, setting.value);
    if (!value)
      fail(ErrorCode::kInvalidArgument, "{}: '{}={}': {} must be {}", device.name(), setting.name, setting.value,
           setting.name, valid_values(*found));
    set_control(device, *found, *value);
  }
}

}  // namespace saccade::v4l2
