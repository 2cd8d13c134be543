// Frames per second of the synthetic scene on one core, as an image and as ground truth. "fps" counts CPU time. Bound:
// an image is written once (3 bytes per pixel) after its light (6 bytes), depth (4) and index (2) were cleared, written
// and read; at 640x480 these 4.6 MB stay in L2, so that the scene is compute-bound: some 60 operations per pixel of
// ground, 0.2 ms of each core's 8-wide peak.
#include "scene/scene.hpp"

#include <benchmark/benchmark.h>

#include <vector>

namespace saccade {
namespace {

SceneOptions options_for(const benchmark::State& state) {
  SceneOptions options{
      .seed = 3, .width = static_cast<int>(state.range(0)), .height = static_cast<int>(state.range(1))};
  options.objects = static_cast<int>(state.range(2));
  options.night = static_cast<float>(state.range(3)) / 100;
  options.blur = static_cast<float>(state.range(4)) / 100;
  return options;
}

void count_frames(benchmark::State& state, std::int64_t frames) {
  state.counters["fps"] = benchmark::Counter(static_cast<double>(frames), benchmark::Counter::kIsRate);
}

void image(benchmark::State& state) {
  Scene scene(options_for(state));
  const SceneOptions& options = scene.options();
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(options.width) * static_cast<std::size_t>(options.height) *
                                   3);
  const RgbView out{pixels.data(), 3 * options.width, options.width, options.height};
  scene.render(0, out);
  std::int64_t frame = 0;
  for (auto step : state) {
    scene.render(frame++, out);
    benchmark::ClobberMemory();
  }
  count_frames(state, frame);
}

void truth(benchmark::State& state) {
  Scene scene(options_for(state));
  std::int64_t frame = 0;
  for (auto step : state) benchmark::DoNotOptimize(scene.truth(frame++).objects.size());
  count_frames(state, frame);
}

void conditions(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"width", "height", "objects", "night", "blur"})->Unit(benchmark::kMillisecond);
  bench->Args({640, 480, 16, 0, 0})
      ->Args({640, 480, 16, 0, 50})
      ->Args({640, 480, 16, 100, 50})
      ->Args({640, 480, 40, 50, 100});
  bench->Args({1280, 720, 24, 0, 30})->Args({1920, 1080, 24, 0, 30});
}

BENCHMARK(image)->Apply(conditions);
BENCHMARK(truth)->Args({640, 480, 16, 0, 0})->Args({1280, 720, 24, 0, 30});

}  // namespace
}  // namespace saccade
