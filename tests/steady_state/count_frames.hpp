#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "steady_state/alloc_counter.hpp"

namespace saccade::test {

/// Frames that a pipeline takes to fill its pools.
constexpr int kWarmUp = 40;

/// Prints who allocates while TAKE has the results of FRAMES frames taken, once the pipeline is warm; TAKE is false
/// where its source ends before. An exit status: 0 where our own code allocated nothing, 2 where the counter counts
/// nothing at all or there are too few frames.
inline int count_frames(const std::function<bool(int count)>& take, int frames) {
  // A counter that sees nothing would pass for the wrong reason.
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
