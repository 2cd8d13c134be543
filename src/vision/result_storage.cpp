#include "vision/result_storage.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

namespace saccade {
namespace {

/// Calls VISIT with every text of RESULT, but for those of the objects' classes.
template <typename R, typename Visit>
void each_text(R& result, Visit visit) {
  for (auto* text : {&result.source, &result.name, &result.model, &result.text}) visit(*text);
  for (auto& each : result.detections) visit(each.class_name), visit(each.text);
  for (auto& each : result.classes) visit(each.class_name);
  for (auto& each : result.segments) visit(each.class_name);
}

/// Clears VALUES and makes room for COUNT, at first for twice as many and for 1 KiB, so that it rarely grows.
template <typename T>
void make_room(T& values, std::size_t count) {
  values.clear();
  if (count > values.capacity()) values.reserve(std::max(2 * count, 1024 / sizeof(values[0])));
}

/// Makes room for a fixed number.
template <typename T>
void make_room_exactly(std::vector<T>& values, std::size_t count) {
  values.clear();
  values.reserve(count);
}

/// Appends FROM to TO, which has room for it, and points FROM there.
template <typename T>
void move_to(std::vector<T>& to, std::span<const T>& from) {
  const std::size_t first = to.size();
  to.insert(to.end(), from.begin(), from.end());
  from = std::span<const T>(to).subspan(first);
}

}  // namespace

void ResultStorage::reserve(const Result& result, Result& copy) {
  // The copies must not move while COPY points to them.
  std::size_t letters = 0;
  each_text(result, [&](std::string_view text) { letters += text.size(); });
  std::size_t keypoints = 0;
  std::size_t runs = 0;
  std::size_t embeddings = result.embedding.size();
  std::size_t classes = 0;
  for (const Detection& detection : result.detections) {
    keypoints += detection.keypoints.size();
    if (detection.mask) runs += detection.mask->runs.size();
    embeddings += detection.embedding.size();
    classes += detection.classes.size();
    for (const Classification& each : detection.classes) letters += each.class_name.size();
  }
  for (const ZoneState& zone : result.zones) letters += zone.name.size();
  for (const ZoneEvent& event : result.zone_events) letters += event.zone.size() + event.class_name.size();
  make_room(text_, letters);
  make_room(keypoints_, keypoints);
  make_room(runs_, runs);
  make_room_exactly(cells_, result.class_map.cells.size());
  make_room_exactly(depths_, result.depth.cells.size());
  make_room(embeddings_, embeddings);
  make_room(object_classes_, classes);
  reserve_zones(result.zones, result.zone_events);
  make_room_exactly(pixels_,
                    3 * static_cast<std::size_t>(result.image.width) * static_cast<std::size_t>(result.image.height));
  // A model's result has room for the most that it may hold.
  copy.detections.reserve(result.detections.capacity());
  copy.classes.reserve(result.classes.capacity());
  copy.segments.reserve(result.segments.capacity());
}

void ResultStorage::copy(const Result& result, Result& copy) {
  reserve(result, copy);
  copy = result;
  const auto move_text = [this](std::string_view& text) {
    const std::size_t first = text_.size();
    text_ += text;
    text = std::string_view(text_).substr(first);
  };
  each_text(copy, move_text);
  for (Detection& detection : copy.detections) {
    move_to(keypoints_, detection.keypoints);
    if (detection.mask) move_to(runs_, detection.mask->runs);
    move_to(embeddings_, detection.embedding);
    move_to(object_classes_, detection.classes);
  }
  for (Classification& each : object_classes_) move_text(each.class_name);
  move_to(cells_, copy.class_map.cells);
  move_to(depths_, copy.depth.cells);
  move_to(embeddings_, copy.embedding);
  add_zones(result.zones, result.zone_events, copy);
  for (ZoneState& each : zones_) move_text(each.name);
  for (ZoneEvent& each : zone_events_) move_text(each.zone), move_text(each.class_name);
  move_pixels(copy.image);
}

void ResultStorage::reserve_zones(std::span<const ZoneState> zones, std::span<const ZoneEvent> events) {
  std::size_t points = 0;
  for (const ZoneState& zone : zones) points += zone.points.size();
  make_room_exactly(zones_, zones.size());
  make_room_exactly(zone_points_, points);
  make_room(zone_events_, events.size());
}

void ResultStorage::add_zones(std::span<const ZoneState> zones, std::span<const ZoneEvent> events, Result& copy) {
  reserve_zones(zones, events);
  copy.zones = zones;
  copy.zone_events = events;
  move_to(zones_, copy.zones);
  for (ZoneState& zone : zones_) move_to(zone_points_, zone.points);
  move_to(zone_events_, copy.zone_events);
}

/// The generated image: one plane, kRgb24.
void ResultStorage::move_pixels(FrameView& image) {
  if (image.width == 0) return;
  const std::size_t row = 3 * static_cast<std::size_t>(image.width);
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* from = image.planes[0] + static_cast<std::ptrdiff_t>(y) * image.pitch_bytes[0];
    pixels_.insert(pixels_.end(), from, from + row);
  }
  image.planes = {pixels_.data()};
  image.pitch_bytes = {static_cast<int>(row)};
  image.memory = MemoryKind::kPlain;
}

Result Result::clone() const {
  const auto storage = std::make_shared<ResultStorage>();
  Result copy;
  storage->copy(*this, copy);
  copy.storage = storage;
  return copy;
}

}  // namespace saccade
