#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "vision/tracking/object_tracker.hpp"

namespace saccade {
namespace {

struct NamedTracker {
  std::string_view name;
  TrackerOptions defaults;
};

/// By TrackerKind.
const std::array<NamedTracker, 3>& named_trackers() {
  static const std::array<NamedTracker, 3> all = {{
      {"bytetrack", {}},
      {"ocsort", {.kind = TrackerKind::kOcSort, .match = 0.3, .confirm = 3}},
      {"sort", {.kind = TrackerKind::kSort, .match = 0.3, .confirm = 3}},
  }};
  return all;
}

constexpr unsigned kAllKinds = 7;

struct TrackerSetting {
  std::string_view name;
  double least;
  double most;
  void (*set)(TrackerOptions& options, double value);
  /// Nothing: left open.
  std::optional<double> (*get)(const TrackerOptions& options);
  /// Bit I: it is a setting of the tracker of kind I.
  unsigned kinds = kAllKinds;

  bool is_of(TrackerKind kind) const { return (kinds >> static_cast<unsigned>(kind) & 1) != 0; }
};

constexpr unsigned bit_of(TrackerKind kind) { return 1U << static_cast<unsigned>(kind); }

constexpr double kLongestKept = 3600;  // seconds

template <auto Member>
constexpr TrackerSetting number_setting(std::string_view name, double least, double most, unsigned kinds = kAllKinds) {
  return {name,
          least,
          most,
          [](TrackerOptions& options, double value) {
            using Value = std::remove_reference_t<decltype(options.*Member)>;
            options.*Member = static_cast<Value>(value);
          },
          [](const TrackerOptions& options) -> std::optional<double> { return options.*Member; },
          kinds};
}

constexpr std::array<TrackerSetting, 8> kTrackerSettings = {{
    number_setting<&TrackerOptions::low>("low", 0, 1, bit_of(TrackerKind::kByteTrack)),
    number_setting<&TrackerOptions::high>("high", 0, 1, bit_of(TrackerKind::kByteTrack) | bit_of(TrackerKind::kOcSort)),
    number_setting<&TrackerOptions::start>("start", 0, 1),
    number_setting<&TrackerOptions::match>("match", 0, 1),
    number_setting<&TrackerOptions::confirm>("confirm", 1, 1000),
    {"keep", 0, kLongestKept,
     [](TrackerOptions& options, double value) {
       options.keep = std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(value));
     },
     [](const TrackerOptions& options) -> std::optional<double> {
       return std::chrono::duration<double>(options.keep).count();
     }},
    number_setting<&TrackerOptions::direction>("direction", 0, 10, bit_of(TrackerKind::kOcSort)),
    number_setting<&TrackerOptions::camera>("camera", 0, 1),
}};

/// "a, b or c"
std::string list_of(const std::vector<std::string_view>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 < names.size() ? ", " : " or ", names[i]);
  return list;
}

std::string settings_of(TrackerKind kind) {
  std::vector<std::string_view> names;
  for (const TrackerSetting& setting : kTrackerSettings)
    if (setting.is_of(kind)) names.push_back(setting.name);
  return list_of(names);
}

std::string all_trackers() {
  std::vector<std::string_view> names;
  for (const NamedTracker& tracker : named_trackers()) names.push_back(tracker.name);
  return list_of(names);
}

std::optional<double> setting_value(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_integer(const TrackerSetting& setting) { return setting.name == "confirm" || setting.name == "camera"; }

bool is_allowed(const TrackerSetting& setting, double value) {
  const bool is_whole = !is_integer(setting) || value == std::floor(value);
  return is_whole && value >= setting.least && value <= setting.most;  // false for a NaN
}

/// "a number from 0 to 1"
std::string range_of(const TrackerSetting& setting) {
  return fmt::format("{} from {} to {}", is_integer(setting) ? "an integer" : "a number", setting.least, setting.most);
}

void apply_setting(TrackerOptions& options, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const auto key = std::ranges::find(kTrackerSettings, name, &TrackerSetting::name);
  if (key == kTrackerSettings.end() || !key->is_of(options.kind))
    fail(ErrorCode::kInvalidArgument, "{} has no setting '{}': use {}", to_string(options.kind), name,
         settings_of(options.kind));
  if (equals == std::string_view::npos)
    fail(ErrorCode::kInvalidArgument, "'{}' needs a value, {}", name, range_of(*key));
  const double value = setting_value(setting.substr(equals + 1)).value_or(std::nan(""));
  if (!is_allowed(*key, value)) fail(ErrorCode::kInvalidArgument, "'{}': {} must be {}", setting, name, range_of(*key));
  key->set(options, value);
}

/// ByteTrack's "det_thresh" is its "track_thresh" and this.
constexpr double kByteTrackStart = 0.1;

}  // namespace

std::string_view to_string(TrackerKind kind) {
  const auto i = static_cast<std::size_t>(kind);
  return i < named_trackers().size() ? named_trackers()[i].name : "unknown";
}

TrackerSettings settings_for(const TrackerOptions& options, double confidence) {
  const double high = options.high.value_or(confidence);
  const double above = options.kind == TrackerKind::kByteTrack ? kByteTrackStart : 0;
  return {.kind = options.kind,
          .high = options.kind == TrackerKind::kSort ? 0 : high,
          .start = options.start.value_or(std::min(high + above, 1.0)),
          .match = options.match,
          .confirm = options.confirm,
          .keep = options.keep,
          .direction = options.direction};
}

void check_tracker_options(const TrackerOptions& options) {
  for (const TrackerSetting& setting : kTrackerSettings)
    if (const auto value = setting.get(options); value && !is_allowed(setting, *value))
      fail(ErrorCode::kInvalidArgument, "the tracker's {} must be {}, not {}", setting.name, range_of(setting), *value);
}

TrackerOptions tracker_options(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto kind = std::ranges::find(named_trackers(), name, &NamedTracker::name);
  if (kind == named_trackers().end())
    fail(ErrorCode::kInvalidArgument, "unknown tracker '{}': use {}", name, all_trackers());
  TrackerOptions options = kind->defaults;
  for (std::size_t begin = colon; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin + 1), text.size());
    apply_setting(options, text.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  return options;
}

}  // namespace saccade
