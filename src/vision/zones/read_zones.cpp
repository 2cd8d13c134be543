#include <cmath>

#include "base/toml_section.hpp"
#include "vision/zones/zone_geometry.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMostZones = 1000;
constexpr double kLongestSeconds = 86'400;

/// What a file says for all of its zones.
struct ZoneDefaults {
  ZoneUnits units = Zone().units;
  std::chrono::nanoseconds hold = Zone().hold;
  std::chrono::nanoseconds lost = Zone().lost;
};

/// The value of KEY, one of the first COUNT names of an enumeration.
template <typename Enum>
Enum choice_of(TomlSection& section, std::string_view key, std::size_t count, Enum otherwise) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return otherwise;
  const auto text = node->value_exact<std::string>();
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    names.push_back(to_string(value));
    if (text == names.back()) return value;
  }
  section.bad(node->source(), key, fmt::format("must be one of {}", fmt::join(names, ", ")));
}

std::chrono::nanoseconds time_of(TomlSection& section, std::string_view key, std::chrono::nanoseconds otherwise) {
  const auto seconds = section.number(key, "a time in seconds", 0, kLongestSeconds);
  if (!seconds) return otherwise;
  return std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(*seconds));
}

ZoneDefaults defaults_of(TomlSection& section) {
  const ZoneDefaults otherwise;
  return {.units = choice_of(section, "units", 2, otherwise.units),
          .hold = time_of(section, "hold", otherwise.hold),
          .lost = time_of(section, "lost", otherwise.lost)};
}

/// [x, y]
ZonePoint point_of(const TomlSection& section, std::string_view key, const toml::node& node) {
  const toml::array* values = node.as_array();
  const auto number = [&](std::size_t i) {
    const toml::node& value = (*values)[i];
    return value.is_number() ? value.value<double>().value_or(std::nan("")) : std::nan("");
  };
  const bool is_pair = values != nullptr && values->size() == 2;
  const ZonePoint point = is_pair ? ZonePoint{number(0), number(1)} : ZonePoint{std::nan(""), 0};
  if (!std::isfinite(point.x) || !std::isfinite(point.y))
    section.bad(node.source(), key, "must be a point, [x, y], as [320, 180]");
  return point;
}

ZonePoint end_of(TomlSection& section, std::string_view key) {
  const toml::node* node = section.find(key);
  if (node == nullptr) section.bad(section.source(), key, "is missing: a line goes from one point [x, y] to another");
  return point_of(section, key, *node);
}

std::vector<ZonePoint> zone_corners(TomlSection& section) {
  constexpr std::string_view kKey = "points";
  const toml::node* node = section.find(kKey);
  if (node == nullptr) section.bad(section.source(), kKey, "is missing: an area has three or more [x, y]");
  const toml::array* values = node->as_array();
  if (values == nullptr) section.bad(node->source(), kKey, "must be a list of points, [[x, y], ...]");
  std::vector<ZonePoint> points;
  for (const toml::node& value : *values) points.push_back(point_of(section, kKey, value));
  return points;
}

std::vector<std::string> classes_of(TomlSection& section) {
  constexpr std::string_view kKey = "classes";
  const toml::node* node = section.find(kKey);
  if (node == nullptr) return {};
  const toml::array* values = node->as_array();
  std::vector<std::string> classes;
  if (values != nullptr)
    for (const toml::node& value : *values)
      if (const auto text = value.value_exact<std::string>()) classes.push_back(*text);
  if (classes.empty() || classes.size() != values->size())
    section.bad(node->source(), kKey,
                "must be a list of class names, [\"person\", ...]; without it, all classes count");
  return classes;
}

/// The name of a source, or its index.
void read_source(TomlSection& section, Zone& zone) {
  constexpr std::string_view kKey = "source";
  const toml::node* node = section.find(kKey);
  if (node == nullptr) return;
  const auto index = node->value_exact<std::int64_t>();
  const auto name = node->value_exact<std::string>();
  if (index && *index >= 0)
    zone.stream = static_cast<std::size_t>(*index);
  else if (name && !name->empty())
    zone.source = *name;
  else
    section.bad(node->source(), kKey, "must be a source as it is given to --source, or its index from 0");
}

Zone zone_of(TomlSection& section, ZoneKind kind, const ZoneDefaults& defaults) {
  Zone zone{.kind = kind};
  const auto name = section.text("name");
  if (!name || name->empty())
    section.bad(section.source(), "name", "is missing: each zone has a name of its own, which its events have");
  zone.name = *name;
  read_source(section, zone);
  if (kind == ZoneKind::kLine) {
    zone.points = {end_of(section, "from"), end_of(section, "to")};
  } else {
    zone.points = zone_corners(section);
  }
  zone.classes = classes_of(section);
  zone.anchor = choice_of(section, "anchor", 5, zone.anchor);
  zone.units = choice_of(section, "units", 2, defaults.units);
  zone.hold = time_of(section, "hold", defaults.hold);
  zone.lost = kind == ZoneKind::kArea ? time_of(section, "lost", defaults.lost) : defaults.lost;
  zone.model = section.text("model").value_or("");
  section.end();
  return zone;
}

/// Checks the last of ZONES next to those before.
void check_last(const std::string& path, const TomlSection& section, const std::vector<Zone>& zones) {
  const Zone& last = zones.back();
  try {
    check_zones({&last, 1});
    if (std::ranges::count(zones, last.name, &Zone::name) > 1)
      fail(ErrorCode::kInvalidArgument, "a zone before this one has the name '{}', too: give each its own", last.name);
  } catch (const Error& error) {
    fail(ErrorCode::kInvalidFile, "{}:{}: {}", path, section.source().begin.line, error.what());
  }
  if (zones.size() > kMostZones) fail(ErrorCode::kInvalidFile, "{} has more than {} zones", path, kMostZones);
}

}  // namespace

std::vector<Zone> read_zones(const std::string& path) {
  const toml::table table = read_toml(path, "zones file");
  TomlSection root(path, "", table);
  const ZoneDefaults defaults = defaults_of(root);
  std::vector<Zone> zones;
  for (const ZoneKind kind : {ZoneKind::kLine, ZoneKind::kArea}) {
    for (TomlSection& section : root.sections(to_string(kind))) {
      zones.push_back(zone_of(section, kind, defaults));
      check_last(path, section, zones);
    }
  }
  root.end();
  if (zones.empty())
    fail(ErrorCode::kInvalidFile, "the zones file {} has no zone: add a [[line]] or an [[area]]", path);
  return zones;
}

}  // namespace saccade
