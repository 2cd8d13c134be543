#include "vision/zones/zone_counter.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace saccade {

ZoneCounter::ZoneCounter(std::span<const Zone* const> zones, std::chrono::nanoseconds keep)
    : zones_(zones.begin(), zones.end()), keep_(keep), counted_(zones.size()) {
  std::size_t corners = 0;
  for (const Zone* zone : zones_) {
    if (zone->kind == ZoneKind::kArea) keep_ = std::max(keep_, zone->lost);
    corners += zone->points.size();
    states_.push_back({.name = zone->name, .kind = zone->kind, .points = {}});
  }
  points_.resize(corners);
}

void ZoneCounter::update(const Result& result) {
  events_.clear();
  ++updates_;
  advance(result.timestamp_ns);
  if (result.width != width_ || result.height != height_) place(result.width, result.height);
  end_visits();
  for (const Detection& detection : result.detections)
    if (detection.track_id > 0) see(detection);
  forget();
}

/// Sets now_. After a jump back of the timestamps it stands still for a frame, and no stay lasts across the jump.
void ZoneCounter::advance(std::int64_t timestamp_ns) {
  const std::chrono::nanoseconds time(timestamp_ns + shift_ns_);
  if (has_begun_ && time < now_) {
    shift_ns_ += (now_ - time).count();
    for (Meeting& each : meetings_) {
      each.line.break_time();
      each.area.break_time();
    }
    return;
  }
  has_begun_ = true;
  now_ = time;
}

/// The zones on frames of WIDTH x HEIGHT. Positions on frames of another size are not compared with them.
void ZoneCounter::place(int width, int height) {
  width_ = width;
  height_ = height;
  std::size_t first = 0;
  for (std::size_t i = 0; i < zones_.size(); ++i) {
    const Zone& zone = *zones_[i];
    const bool is_share = zone.units == ZoneUnits::kNormalized;
    const std::span<ZonePoint> placed = std::span(points_).subspan(first, zone.points.size());
    for (std::size_t k = 0; k < placed.size(); ++k)
      placed[k] = {zone.points[k].x * (is_share ? width : 1), zone.points[k].y * (is_share ? height : 1)};
    states_[i].points = placed;
    first += placed.size();
  }
  for (Meeting& each : meetings_) each.line.reset();
}

/// Before this frame's sightings: a track that comes back later begins a new visit.
void ZoneCounter::end_visits() {
  for (std::size_t track = 0; track < tracks_.size(); ++track) {
    for (std::size_t zone = 0; zone < zones_.size(); ++zone) {
      if (zones_[zone]->kind != ZoneKind::kArea) continue;
      const AreaTimes times{.hold = zones_[zone]->hold, .lost = zones_[zone]->lost};
      if (const auto left = meeting(track, zone).area.miss(times, tracks_[track].seen, now_))
        change(track, zone, *left);
    }
  }
}

void ZoneCounter::see(const Detection& detection) {
  if (!std::ranges::all_of(detection.box, [](float value) { return std::isfinite(value); })) return;
  const std::size_t index = index_of(detection.track_id);
  Track& track = tracks_[index];
  if (track.update == updates_) return;  // a track has one position per frame
  track.update = updates_;
  track.seen = now_;
  track.votes.add(detection.class_id);
  if (!names_.contains(detection.class_id)) names_.emplace(detection.class_id, detection.class_name);
  for (std::size_t zone = 0; zone < zones_.size(); ++zone) look(zone, detection, index);
}

/// The index of the track ID, which begins if it is new.
std::size_t ZoneCounter::index_of(std::int64_t id) {
  const auto at = std::ranges::lower_bound(tracks_, id, {}, &Track::id);
  const auto index = static_cast<std::size_t>(at - tracks_.begin());
  if (at != tracks_.end() && at->id == id) return index;
  tracks_.insert(at, Track{.id = id});
  meetings_.insert(meetings_.begin() + static_cast<std::ptrdiff_t>(index * zones_.size()), zones_.size(), Meeting());
  return index;
}

void ZoneCounter::look(std::size_t zone, const Detection& detection, std::size_t track) {
  const Zone& of = *zones_[zone];
  const ZonePoint position = anchor_of(detection.box, of.anchor);
  Meeting& met = meeting(track, zone);
  if (of.kind == ZoneKind::kLine) {
    const auto crossed = met.line.move(segment_of(zone), position, now_);
    if (crossed && is_wanted(zone, tracks_[track]))
      emit(zone, {.kind = crossed->kind, .track_id = detection.track_id, .class_id = tracks_[track].votes.most()},
           crossed->since);
    return;
  }
  const bool is_inside = polygon_contains(states_[zone].points, position);
  const auto changed =
      met.area.move({.hold = of.hold, .lost = of.lost}, is_inside, is_wanted(zone, tracks_[track]), now_);
  if (changed) change(track, zone, *changed);
}

/// A visit ends with the class that it began with: the counts of each class agree with the occupancy.
void ZoneCounter::change(std::size_t track, std::size_t zone, const AreaVisit::Changed& changed) {
  int& class_id = meeting(track, zone).class_id;
  if (changed.kind == ZoneEventKind::kEnter) class_id = tracks_[track].votes.most();
  emit(zone, {.kind = changed.kind, .track_id = tracks_[track].id, .class_id = class_id, .stay = changed.stay},
       changed.since);
}

/// Drops tracks that will not come back.
void ZoneCounter::forget() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (now_ - tracks_[i].seen > keep_) continue;
    if (kept != i) {
      tracks_[kept] = tracks_[i];
      for (std::size_t zone = 0; zone < zones_.size(); ++zone) meeting(kept, zone) = meeting(i, zone);
    }
    ++kept;
  }
  tracks_.resize(kept);
  meetings_.resize(kept * zones_.size());
}

/// Counts EVENT, whose names are not set yet.
void ZoneCounter::emit(std::size_t zone, ZoneEvent event, std::chrono::nanoseconds since) {
  event.zone = zones_[zone]->name;
  event.class_name = name_of(event.class_id);
  event.since_ns = since.count() - shift_ns_;
  events_.push_back(event);
  const bool is_in = event.kind == ZoneEventKind::kIn || event.kind == ZoneEventKind::kEnter;
  const std::scoped_lock lock(mutex_);
  Counted& counted = counted_[zone];
  auto each = std::ranges::lower_bound(counted.classes, event.class_id, {}, &ZoneClassCount::class_id);
  if (each == counted.classes.end() || each->class_id != event.class_id)
    each = counted.classes.insert(
        each, ZoneClassCount{.class_id = event.class_id, .class_name = std::string(event.class_name)});
  ++(is_in ? each->in : each->out);
  ++(is_in ? counted.in : counted.out);
  if (event.kind == ZoneEventKind::kLeave) counted.dwell.add(event.stay);
  states_[zone].in = counted.in;
  states_[zone].out = counted.out;
  if (zones_[zone]->kind == ZoneKind::kArea) states_[zone].inside = counted.in - counted.out;
}

bool ZoneCounter::is_wanted(std::size_t zone, const Track& track) const {
  const std::vector<std::string>& classes = zones_[zone]->classes;
  return classes.empty() || std::ranges::find(classes, name_of(track.votes.most())) != classes.end();
}

std::string_view ZoneCounter::name_of(int class_id) const { return names_.find(class_id)->second; }

LineSegment ZoneCounter::segment_of(std::size_t zone) const {
  const std::span<const ZonePoint> points = states_[zone].points;
  return {.from = points[0], .to = points[1], .hold = zones_[zone]->hold};
}

std::vector<ZoneSummary> ZoneCounter::summaries() const {
  std::vector<ZoneSummary> summaries;
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < zones_.size(); ++i) {
    const Counted& counted = counted_[i];
    const bool is_area = zones_[i]->kind == ZoneKind::kArea;
    summaries.push_back({.name = zones_[i]->name,
                         .kind = zones_[i]->kind,
                         .in = counted.in,
                         .out = counted.out,
                         .inside = is_area ? counted.in - counted.out : 0,
                         .classes = counted.classes,
                         .dwell = counted.dwell});
  }
  return summaries;
}

std::string misfit_of(const Zone& zone, int width, int height) {
  if (zone.units == ZoneUnits::kNormalized) return {};
  for (const ZonePoint& point : zone.points)
    if (point.x > width || point.y > height)
      return fmt::format(
          "the {} '{}' has a point at ({}, {}), outside of frames of {}x{} pixels: give pixels of the "
          "frame, or shares of it with units = \"normalized\"",
          to_string(zone.kind), zone.name, point.x, point.y, width, height);
  return {};
}

bool is_on_edge(const Zone& zone, int width, int height) {
  if (zone.kind != ZoneKind::kLine) return false;
  const bool is_share = zone.units == ZoneUnits::kNormalized;
  const double right = is_share ? 1 : width;
  const double bottom = is_share ? 1 : height;
  const auto all = [&](auto test) { return std::ranges::all_of(zone.points, test); };
  return all([](const ZonePoint& p) { return p.x == 0; }) || all([](const ZonePoint& p) { return p.y == 0; }) ||
         all([&](const ZonePoint& p) { return p.x == right; }) ||
         all([&](const ZonePoint& p) { return p.y == bottom; });
}

}  // namespace saccade
