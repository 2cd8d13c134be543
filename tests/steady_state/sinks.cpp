// Draws a result with one of everything and writes it to the sinks that write one file, and counts allocations after
// the warm-up:
//   steady_state_sinks [FRAMES]
// Fails if our own code allocated, or if the counter does not work. Glyphs are cairo's.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/module.hpp"
#include "pipeline/rich_results.hpp"
#include "saccade/sinks.hpp"
#include "steady_state/alloc_counter.hpp"
#include "vision/drawer.hpp"

namespace {

using saccade::test::AllocCounter;

/// A broken counter would pass for the wrong reason.
bool counter_works() {
  AllocCounter::start();
  const auto probe = std::make_unique<std::vector<int>>(1000);
  AllocCounter::stop();
  return probe->size() == 1000 && AllocCounter::count(AllocCounter::Owner::kOurs) >= 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (!counter_works()) return std::puts("the counter does not see an allocation") < 0 ? 2 : 1;
  saccade::test::RichResult rich;
  const saccade::RgbView image{rich.pixels.data(), 3 * 8, 8, 4};
  const auto drawer = saccade::module<saccade::DrawModule>("draw").make_drawer();
  const auto jsonl = saccade::open_jsonl("/dev/null", {.contours = true});
  const auto csv = saccade::open_csv("/dev/null");
  const auto pass = [&] {
    ++rich.result.frame;
    drawer->draw(rich.result, image);
    jsonl->write(rich.result, rich.frame);
    csv->write(rich.result, rich.frame);
  };
  constexpr int kWarmUp = 3;
  for (int i = 0; i < kWarmUp; ++i) pass();
  const int frames = argc > 1 ? std::atoi(argv[1]) : 100;
  AllocCounter::start();
  for (int i = 0; i < frames; ++i) pass();
  AllocCounter::stop();
  std::printf("allocations over %d frames after %d:\n", frames, kWarmUp);
  for (int i = 0; i < AllocCounter::kOwners; ++i) {
    const auto owner = static_cast<AllocCounter::Owner>(i);
    std::printf("  %-16s %lld\n%s", AllocCounter::name(owner).data(),
                static_cast<long long>(AllocCounter::count(owner)), AllocCounter::callers(owner).c_str());
  }
  return AllocCounter::count(AllocCounter::Owner::kOurs) == 0 ? 0 : 1;
}
