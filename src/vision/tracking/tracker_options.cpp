#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "vision/tracking/object_tracker.hpp"

namespace saccade {
namespace {

struct NamedTracker {
  std::string_view name;
  TrackerOptions defaults;
};

const std::array<NamedTracker, 3>& named_trackers() {
  static const std::array<NamedTracker, 3> all = {{
      {"bytetrack", {}},
      {"ocsort", {.kind = TrackerKind::kOcSort, .match = 0.3, .high = 0.6, .start = 0.6, .confirm = 3}},
      {"sort", {.kind = TrackerKind::kSort, .match = 0.3, .high = 0, .start = 0.25, .confirm = 3}},
  }};
  return all;
}

struct TrackerSetting {
  std::string_view name;
  double least;
  double most;
  void (*set)(TrackerOptions& options, double value);
};

constexpr double kLongestKept = 3600;  // seconds

const std::array<TrackerSetting, 6>& tracker_settings() {
  static const std::array<TrackerSetting, 6> all = {{
      {"match", 0, 1, [](TrackerOptions& options, double value) { options.match = value; }},
      {"high", 0, 1, [](TrackerOptions& options, double value) { options.high = value; }},
      {"start", 0, 1, [](TrackerOptions& options, double value) { options.start = value; }},
      {"confirm", 1, 1000, [](TrackerOptions& options, double value) { options.confirm = static_cast<int>(value); }},
      {"keep", 0, kLongestKept,
       [](TrackerOptions& options, double value) {
         options.keep = std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(value));
       }},
      {"direction", 0, 10, [](TrackerOptions& options, double value) { options.direction = value; }},
  }};
  return all;
}

template <typename Named>
std::string names_of(const Named& all) {
  std::string names;
  for (const auto& each : all) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  return names;
}

std::optional<double> setting_value(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

void apply_setting(TrackerOptions& options, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const auto key = std::ranges::find(tracker_settings(), name, &TrackerSetting::name);
  if (key == tracker_settings().end())
    fail(ErrorCode::kInvalidArgument, "a tracker has no setting '{}'; there are {}", name,
         names_of(tracker_settings()));
  const double value = equals == std::string_view::npos
                           ? std::nan("")
                           : setting_value(setting.substr(equals + 1)).value_or(std::nan(""));
  const bool is_whole = name != "confirm" || value == std::floor(value);
  if (!is_whole || !(value >= key->least && value <= key->most))
    fail(ErrorCode::kInvalidArgument, "'{}': {} is {} from {} to {}", setting, name,
         name == "confirm" ? "an integer" : "a number", key->least, key->most);
  key->set(options, value);
}

}  // namespace

TrackerOptions tracker_options(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto kind = std::ranges::find(named_trackers(), name, &NamedTracker::name);
  if (kind == named_trackers().end())
    fail(ErrorCode::kInvalidArgument, "there is no tracker '{}', but {}", name, names_of(named_trackers()));
  TrackerOptions options = kind->defaults;
  for (std::size_t begin = colon; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin + 1), text.size());
    apply_setting(options, text.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  return options;
}

}  // namespace saccade
