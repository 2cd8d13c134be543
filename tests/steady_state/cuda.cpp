// Runs a pipeline of two models on a GPU, be it the emulated one, and counts who allocates between source and result
// once it is warm:
//   steady_state_cuda [FRAMES]
// Prints the counts; fails where our own code allocated, or where the counter counts nothing at all.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "saccade/saccade.hpp"
#include "steady_state/alloc_counter.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace {

using saccade::test::AllocCounter;

constexpr int kWarmUp = 40;

/// Takes the results of COUNT frames; false where the source ends before.
bool take(saccade::Pipeline& pipeline, int count) {
  for (int i = 0; i < 2 * count; ++i)
    if (!pipeline.next()) return false;
  return true;
}

/// A counter that sees nothing would pass for the wrong reason.
bool counter_works() {
  AllocCounter::start();
  const auto probe = std::make_unique<std::vector<int>>(1000);
  AllocCounter::stop();
  return probe->size() == 1000 && AllocCounter::count(AllocCounter::Owner::kOurs) >= 2;
}

int measure(int frames) {
  if (!counter_works()) return std::puts("the counter does not see an allocation") < 0 ? 2 : 1;
  const saccade::test::TempFolder folder;
  saccade::ModelOptions options;
  options.device = "cuda";
  saccade::Pipeline pipeline(
      {saccade::test::scripted_camera("frames", saccade::test::frames(static_cast<std::size_t>(kWarmUp + frames)))},
      {saccade::Model::load(saccade::test::write_color_classifier(folder), options),
       saccade::Model::load(saccade::test::write_box_detector(folder), options)});
  bool enough = take(pipeline, kWarmUp);
  AllocCounter::start();
  enough = enough && take(pipeline, frames);
  AllocCounter::stop();
  if (!enough) return std::puts("a frame gave no result") < 0 ? 2 : 1;
  std::printf("allocations from source to result over %d frames after %d:\n", frames, kWarmUp);
  for (int i = 0; i < AllocCounter::kOwners; ++i) {
    const auto owner = static_cast<AllocCounter::Owner>(i);
    std::printf("  %-16s %lld\n%s", AllocCounter::name(owner).data(),
                static_cast<long long>(AllocCounter::count(owner)), AllocCounter::callers(owner).c_str());
  }
  return AllocCounter::count(AllocCounter::Owner::kOurs) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 ? std::atoi(argv[1]) : 100);
  } catch (const saccade::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
