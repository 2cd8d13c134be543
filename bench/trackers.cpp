// The time of a frame's 100 boxes on 100 tracks, by tracker. Bound: 10,000 overlaps, some 20 us. The time of the
// camera's motion between two frames of 1920x1080. Bound: reading the luma, some 100 us.
#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <vector>

#include "vision/tracking/camera_motion.hpp"
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
  const auto tracker = make_tracker(settings_for(tracker_options(options), 0.25), 30);
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

void estimate_camera_motion(benchmark::State& state) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(kWidth + 8) * kHeight);
  // Squares of 16 pixels, each of a grey value.
  std::vector<std::uint8_t> values(static_cast<std::size_t>(kWidth) * kHeight / 256 + kWidth);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random());
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth + 8; ++x)
      pixels[static_cast<std::size_t>(y * (kWidth + 8) + x)] =
          values[static_cast<std::size_t>(y / 16 * (kWidth / 16) + x / 16)];
  FrameView frame{.format = PixelFormat::kGray8, .width = kWidth, .height = kHeight};
  frame.pitch_bytes[0] = kWidth + 8;
  CameraMotion motion;
  int shift = 0;
  for (auto step : state) {
    frame.planes[0] = pixels.data() + (shift = 8 - shift);
    benchmark::DoNotOptimize(motion.next(frame));
  }
}
BENCHMARK(estimate_camera_motion)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace saccade
