// Zones on the ground truth of the synthetic scene, whose identities are exact.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "scene/scene.hpp"
#include "vision/zones/line_reference.hpp"
#include "vision/zones/zone_counter.hpp"

namespace saccade {
namespace {

using test::Grid;
using test::Step;

constexpr std::int64_t kFrameMs = 100;
constexpr std::int64_t kHoldMs = 300;

/// Upright and slanted lines across a scene of 160 x 120.
std::vector<Zone> scene_lines() {
  const std::vector<std::vector<ZonePoint>> ends = {
      {{20, 0}, {20, 120}},   {{50, 120}, {50, 0}},   {{80, 0}, {80, 120}}, {{80, 60}, {80, 70}},
      {{110, 0}, {110, 120}}, {{140, 0}, {140, 120}}, {{0, 0}, {160, 120}}, {{0, 64}, {160, 64}}};
  std::vector<Zone> zones;
  for (std::size_t i = 0; i < ends.size(); ++i)
    zones.push_back({.name = fmt::format("line {}", i), .points = ends[i], .hold = std::chrono::milliseconds(kHoldMs)});
  return zones;
}

TEST(SceneZones, CrossingsOfExactIdentitiesAreExact) {
  const std::vector<Zone> zones = scene_lines();
  std::vector<const Zone*> all;
  for (const Zone& zone : zones) all.push_back(&zone);
  // Objects that are hidden for a time keep their identity.
  ZoneCounter counter(all, std::chrono::hours(1));
  Scene scene({.seed = 3, .width = 160, .height = 120, .fps = 1000.0 / kFrameMs, .objects = 60});
  // In half pixels, as the middle of a box is.
  std::map<std::int64_t, std::vector<Step>> paths;
  std::map<std::int64_t, int> classes;
  Result result;
  result.width = 160;
  result.height = 120;
  for (std::int64_t frame = 0; frame < 600; ++frame) {
    result.timestamp_ns = frame * kFrameMs * 1'000'000;
    result.detections.clear();
    for (const SceneObject& object : scene.truth(frame).objects) {
      Detection detection;
      detection.box = {static_cast<float>(object.x1), static_cast<float>(object.y1), static_cast<float>(object.x2),
                       static_cast<float>(object.y2)};
      detection.class_id = object.class_id;
      detection.track_id = object.identity;
      result.detections.push_back(detection);
      paths[object.identity].push_back({frame * kFrameMs, object.x1 + object.x2, 2 * object.y2});
      classes[object.identity] = object.class_id;
    }
    counter.update(result);
  }

  std::int64_t total = 0;
  const std::vector<ZoneSummary> summaries = counter.summaries();
  for (std::size_t i = 0; i < zones.size(); ++i) {
    std::map<int, std::pair<std::int64_t, std::int64_t>> expected;
    const auto half = [](double pixels) { return static_cast<std::int64_t>(2 * pixels); };
    const Grid grid{half(zones[i].points[0].x), half(zones[i].points[0].y), half(zones[i].points[1].x),
                    half(zones[i].points[1].y)};
    for (const auto& [identity, path] : paths)
      for (const auto& [index, side] : test::counted_crossings(path, grid, kHoldMs))
        ++(side < 0 ? expected[classes[identity]].first : expected[classes[identity]].second);
    std::map<int, std::pair<std::int64_t, std::int64_t>> found;
    for (const ZoneClassCount& each : summaries[i].classes) found[each.class_id] = {each.in, each.out};
    EXPECT_EQ(found, expected) << zones[i].name;
    total += summaries[i].in + summaries[i].out;
  }
  EXPECT_GE(total, 300);
}

}  // namespace
}  // namespace saccade
