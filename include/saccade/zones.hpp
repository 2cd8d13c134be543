#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

/// What a zone counts.
enum class ZoneKind : std::uint8_t {
  kLine,  ///< objects that cross it
  kArea,  ///< objects inside it
};
/// "line", "area"
std::string_view to_string(ZoneKind kind);

/// The point of an object's box that is its position.
enum class ZoneAnchor : std::uint8_t {
  kBottom,  ///< middle of the lower side, where an object touches the ground
  kCenter,
  kTop,  ///< middle of the upper side
  kLeft,
  kRight,
};
/// "bottom", "center", "top", "left", "right"
std::string_view to_string(ZoneAnchor anchor);

/// The unit of a zone's points.
enum class ZoneUnits : std::uint8_t {
  kPixels,      ///< of the frame
  kNormalized,  ///< shares of the frame's width and height, 0 to 1
};
/// "pixels", "normalized"
std::string_view to_string(ZoneUnits units);

/// A corner of a zone, in its ZoneUnits.
struct ZonePoint {
  double x = 0;  ///< to the right
  double y = 0;  ///< downwards
};

/// A line or an area of a frame in which objects are counted.
struct Zone {
  ZoneKind kind = ZoneKind::kLine;  ///< what it counts
  std::string name;                 ///< unique
  /// The SourceInfo::name of its source; empty: every source, unless there is a `stream`.
  std::string source;
  std::optional<std::size_t> stream;  ///< index of its source
  std::string model;                  ///< the Model::name() of its model; empty: every model that finds objects
  /// A line's two ends, or an area's three or more corners in order around it.
  std::vector<ZonePoint> points;
  ZoneUnits units = ZoneUnits::kPixels;     ///< of the points
  std::vector<std::string> classes;         ///< names of the classes that count; empty: all
  ZoneAnchor anchor = ZoneAnchor::kBottom;  ///< where an object is
  /// How long an object must stay on the other side of a line, or in or out of an area, to be counted.
  std::chrono::nanoseconds hold = std::chrono::milliseconds(300);
  /// An object that is not seen for longer has left an area.
  std::chrono::nanoseconds lost = std::chrono::seconds(2);
};

/// The zones in the TOML file at PATH (docs/zones.md). Throws Error naming the line and what is allowed.
std::vector<Zone> read_zones(const std::string& path);
/// Throws Error (kInvalidArgument) naming the zone if its points are not a line or a simple polygon, its name is not
/// unique, or a value is out of range.
void check_zones(std::span<const Zone> zones);

/// What an object has done in a zone.
enum class ZoneEventKind : std::uint8_t {
  kIn,     ///< it crossed a line to the left side, seen from its first end to the second
  kOut,    ///< it crossed a line to the right side
  kEnter,  ///< it is in an area
  kLeave,  ///< it is no longer in an area
};
/// "in", "out", "enter", "leave"
std::string_view to_string(ZoneEventKind kind);

/// An object that was counted. It refers to names of the pipeline's zones and its model's classes.
struct ZoneEvent {
  std::string_view zone;                    ///< its name
  ZoneEventKind kind = ZoneEventKind::kIn;  ///< what happened
  std::int64_t track_id = 0;                ///< Detection::track_id
  int class_id = 0;                         ///< the object's most frequent class so far
  std::string_view class_name;              ///< empty if the model has no labels
  /// When it happened, by Result::timestamp_ns: the first frame on the other side of a line or in an area, or the last
  /// one in an area. It is counted later: once it has lasted for Zone::hold.
  std::int64_t since_ns = 0;
  std::chrono::nanoseconds stay{};  ///< in an area, so far or in all; 0 for lines
};

/// A zone on a frame.
struct ZoneState {
  std::string_view name;              ///< of the zone
  ZoneKind kind = ZoneKind::kLine;    ///< what it counts
  std::span<const ZonePoint> points;  ///< in pixels of the frame
  std::int64_t in = 0;                ///< objects so far that crossed the line inwards, or have entered the area
  std::int64_t out = 0;               ///< objects so far that crossed the line outwards, or have left the area
  std::int64_t inside = 0;            ///< objects in the area now
};

}  // namespace saccade
