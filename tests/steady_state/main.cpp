// Runs a pipeline on a video and counts who allocates between source and result once it is warm:
//   steady_state MODEL VIDEO [FRAMES]
// Prints the counts; fails where our own code allocated, or where the counter counts nothing at all.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "saccade/saccade.hpp"
#include "steady_state/alloc_counter.hpp"

namespace {

using saccade::test::AllocCounter;

constexpr int kWarmUp = 40;

/// Takes COUNT results to the sink; false where the video ends before.
bool take(saccade::Pipeline& pipeline, saccade::Sink& sink, int count) {
  for (int i = 0; i < count; ++i) {
    const auto result = pipeline.next();
    if (!result) return false;
    sink.write(*result, pipeline.frame());
  }
  return true;
}

/// A counter that sees nothing would pass for the wrong reason.
bool counter_works() {
  AllocCounter::start();
  const auto probe = std::make_unique<std::vector<int>>(1000);
  AllocCounter::stop();
  return probe->size() == 1000 && AllocCounter::count(AllocCounter::Owner::kOurs) >= 2;
}

int measure(const char* model, const char* video, int frames) {
  if (!counter_works()) return std::puts("the counter does not see an allocation") < 0 ? 2 : 1;
  saccade::Pipeline pipeline(saccade::Camera::open(video), saccade::Model::load(model));
  const auto sink = saccade::open_jsonl("/dev/null");
  bool enough = take(pipeline, *sink, kWarmUp);
  AllocCounter::start();
  enough = enough && take(pipeline, *sink, frames);
  AllocCounter::stop();
  if (!enough) return std::printf("%s has fewer than %d frames\n", video, kWarmUp + frames) < 0 ? 2 : 1;
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
  if (argc < 3) return std::puts("usage: steady_state MODEL VIDEO [FRAMES]") < 0 ? 1 : 2;
  try {
    return measure(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 200);
  } catch (const saccade::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
