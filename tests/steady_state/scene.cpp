// Renders a scene's frames and their ground truth, and counts allocations after the warm-up:
//   steady_state_scene [FRAMES]
// Fails if there are any, or if the counter does not work.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "scene/scene.hpp"
#include "steady_state/alloc_counter.hpp"

namespace {

using saccade::test::AllocCounter;

std::int64_t counted() {
  std::int64_t sum = 0;
  for (int i = 0; i < AllocCounter::kOwners; ++i) sum += AllocCounter::count(static_cast<AllocCounter::Owner>(i));
  return sum;
}

/// A broken counter would pass for the wrong reason.
bool counter_works() {
  AllocCounter::start();
  const auto probe = std::make_unique<std::vector<int>>(1000);
  AllocCounter::stop();
  return probe->size() == 1000 && counted() >= 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (!counter_works()) return std::puts("the counter does not see an allocation") < 0 ? 2 : 1;
  saccade::Scene scene({.width = 320, .height = 240, .objects = 40, .place = 0});
  std::vector<std::uint8_t> pixels(320 * 240 * 3);
  const saccade::RgbView out{pixels.data(), 3 * 320, 320, 240};
  scene.render(0, out);
  scene.truth(0);
  const int frames = argc > 1 ? std::atoi(argv[1]) : 300;
  AllocCounter::start();
  for (int frame = 1; frame <= frames; ++frame) {
    scene.render(7 * frame, out);
    scene.truth(7 * frame);
  }
  AllocCounter::stop();
  std::printf("allocations over %d frames after the first: %lld\n%s", frames, static_cast<long long>(counted()),
              AllocCounter::callers(AllocCounter::Owner::kOurs).c_str());
  return counted() == 0 ? 0 : 1;
}
