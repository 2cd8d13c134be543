#include "draw/trails.hpp"

#include <algorithm>

namespace saccade {
namespace {

constexpr std::int64_t kShownNs = 2'000'000'000;

}  // namespace

void Trails::Trail::add(const Place& place) {
  if (places.size() < kPlaces)
    places.push_back(place);
  else
    places[next] = place;
  next = (next + 1) % kPlaces;
}

Trails::Trail& Trails::trail_of(int model, std::int64_t id) {
  auto found =
      std::ranges::find_if(trails_, [&](const Trail& trail) { return trail.model == model && trail.id == id; });
  if (found != trails_.end()) return *found;
  found = std::ranges::find(trails_, 0, &Trail::id);
  Trail& trail = found != trails_.end() ? *found : trails_.emplace_back();
  trail.model = model;
  trail.id = id;
  trail.next = 0;
  trail.places.clear();
  trail.places.reserve(Trail::kPlaces);
  return trail;
}

void Trails::draw(const Sheet& sheet, const Result& result, Ink& ink) {
  const std::int64_t now = result.timestamp_ns;
  for (Trail& trail : trails_) {
    if (trail.id == 0 || trail.model != result.model_index) continue;
    const std::int64_t since = now - trail.newest().time_ns;
    if (since < 0 || since > kShownNs) trail.id = 0;
  }
  for (const Detection& each : result.detections) {
    if (each.track_id == 0) continue;
    Trail& trail = trail_of(result.model_index, each.track_id);
    trail.add({now, (each.box[0] + each.box[2]) / 2, (each.box[1] + each.box[3]) / 2});
    draw(sheet, trail, now, object_color(each), ink);
  }
}

/// Older parts are thinner.
void Trails::draw(const Sheet& sheet, const Trail& trail, std::int64_t now_ns, Color color, Ink& ink) {
  const auto line = static_cast<float>(sheet.line);
  const auto draw_lines = [&](float more) {
    for (std::size_t i = 1; i < trail.places.size(); ++i) {
      const Place& from = trail.at(i - 1);
      const Place& to = trail.at(i);
      if (now_ns - from.time_ns > kShownNs) continue;
      const float age = static_cast<float>(now_ns - from.time_ns) / static_cast<float>(kShownNs);
      ink.line(sheet.at(from.x, from.y), sheet.at(to.x, to.y), line * (1.3F - age) + more);
    }
  };
  draw_lines(2);
  ink.print(sheet.image, kRim, kRimOpacity);
  draw_lines(0);
  ink.print(sheet.image, color);
}

}  // namespace saccade
