// The time of a frame's 100 boxes on 100 tracks, by tracker. Bound: 10,000 overlaps, some 20 us.
#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <vector>

#include "vision/tracking/object_tracker.hpp"

namespace saccade {
namespace {

constexpr int kObjects = 100;
constexpr int kWidth = 1920;
constexpr int kHeight = 1080;

/// Boxes that move straight ahead and turn back at the frame's edges.
class Crowd {
 public:
  Crowd() {
    for (auto& [x, y, across, down] : objects_) {
      x = place(kWidth);
      y = place(kHeight);
      across = place(10) - 5;
      down = place(10) - 5;
    }
  }
  const std::vector<TrackedBox>& next() {
    boxes_.clear();
    for (auto& [x, y, across, down] : objects_) {
      x += across;
      y += down;
      if (x < 0 || x > kWidth) across = -across;
      if (y < 0 || y > kHeight) down = -down;
      boxes_.push_back({.box = {x, y, x + 60, y + 100}, .confidence = 0.9F});
    }
    return boxes_;
  }

 private:
  float place(int below) { return std::uniform_real_distribution<float>(0, static_cast<float>(below))(random_); }

  std::mt19937 random_{1};
  std::array<std::array<float, 4>, kObjects> objects_{};
  std::vector<TrackedBox> boxes_;
};

void track(benchmark::State& state, const char* options) {
  const auto tracker = make_tracker(tracker_options(options), 30);
  Crowd crowd;
  std::vector<std::int64_t> ids(kObjects);
  std::chrono::nanoseconds time{};
  for (auto step : state) {
    time += std::chrono::milliseconds(33);
    tracker->update(crowd.next(), time, ids);
    benchmark::DoNotOptimize(ids.data());
  }
}
BENCHMARK_CAPTURE(track, sort, "sort")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(track, bytetrack, "bytetrack")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(track, ocsort, "ocsort")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace saccade
