#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "steady_state/alloc_counter.hpp"

namespace saccade::test {

/// Frames until a pipeline's pools are full.
constexpr int kWarmUp = 40;

/// Prints the allocating functions while TAKE consumes the results of FRAMES frames, after the warm-up; TAKE is false
/// if its source ends early. Returns an exit status: 0 if our own code did not allocate, 2 if the counter does not work
/// or there are too few frames.
inline int count_frames(const std::function<bool(int count)>& take, int frames) {
  // A broken counter would pass for the wrong reason.
  AllocCounter::start();
  const auto probe = std::make_unique<std::vector<int>>(1000);
  AllocCounter::stop();
  if (probe->size() != 1000 || AllocCounter::count(AllocCounter::Owner::kOurs) < 2) {
    std::puts("the counter does not see an allocation");
    return 2;
  }
  bool enough = take(kWarmUp);
  AllocCounter::start();
  enough = enough && take(frames);
  AllocCounter::stop();
  if (!enough) {
    std::printf("the source has fewer than %d frames\n", kWarmUp + frames);
    return 2;
  }
  std::printf("allocations from source to result over %d frames after %d:\n", frames, kWarmUp);
  for (int i = 0; i < AllocCounter::kOwners; ++i) {
    const auto owner = static_cast<AllocCounter::Owner>(i);
    std::printf("  %-16s %lld\n%s", AllocCounter::name(owner).data(),
                static_cast<long long>(AllocCounter::count(owner)), AllocCounter::callers(owner).c_str());
  }
  return AllocCounter::count(AllocCounter::Owner::kOurs) == 0 ? 0 : 1;
}

}  // namespace saccade::test
