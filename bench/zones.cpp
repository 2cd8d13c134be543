// The time of a frame's 100 tracked objects in eight zones. Bound: 100 x 8 tests of a few operations, some 5 us.
#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <vector>

#include "vision/zones/zone_counter.hpp"

namespace saccade {
namespace {

constexpr int kTracks = 100;

/// Four lines, and four areas with eight corners each, on frames of 1920 x 1080.
std::vector<Zone> eight_zones() {
  std::vector<Zone> zones;
  for (int i = 0; i < 4; ++i) {
    const double x = 200 + 400 * i;
    zones.push_back({.name = "line " + std::to_string(i), .points = {{x, 100}, {x + 100, 900}}});
    zones.push_back({.kind = ZoneKind::kArea,
                     .name = "area " + std::to_string(i),
                     .points = {{x, 300},
                                {x + 100, 200},
                                {x + 200, 200},
                                {x + 300, 300},
                                {x + 300, 700},
                                {x + 200, 800},
                                {x + 100, 800},
                                {x, 700}}});
  }
  return zones;
}

void count_in_zones(benchmark::State& state) {
  const std::vector<Zone> zones = eight_zones();
  std::vector<const Zone*> all;
  for (const Zone& zone : zones) all.push_back(&zone);
  ZoneCounter counter(all, std::chrono::seconds(1));
  std::mt19937 random(1);
  const auto place = [&](double below) {
    return static_cast<float>(std::uniform_real_distribution<double>(0, below)(random));
  };
  Result frame;
  frame.width = 1920;
  frame.height = 1080;
  std::vector<std::array<float, 2>> speeds;
  for (int i = 0; i < kTracks; ++i) {
    const float x = place(1860);
    const float y = place(980);
    Detection detection;
    detection.box = {x, y, x + 60, y + 100};
    detection.class_id = i % 4;
    detection.track_id = i + 1;
    frame.detections.push_back(detection);
    speeds.push_back({place(10) - 5, place(10) - 5});
  }
  for (auto step : state) {
    frame.timestamp_ns += 33'000'000;
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      std::array<float, 4>& box = frame.detections[i].box;
      for (std::size_t axis = 0; axis < 2; ++axis) {
        box[axis] += speeds[i][axis];
        box[axis + 2] += speeds[i][axis];
        if (box[axis] < 0 || box[axis + 2] > (axis == 0 ? 1920 : 1080)) speeds[i][axis] = -speeds[i][axis];
      }
    }
    counter.update(frame);
    benchmark::DoNotOptimize(counter.events().data());
  }
}
BENCHMARK(count_in_zones)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace saccade
