#include "base/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>

#include "base/control_groups.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

/// QUOTA microseconds of processor time in PERIOD microseconds. Rounded up: a thread too many waits at times, a
/// processor too few is never used.
std::size_t processors_of(std::size_t quota, std::size_t period) {
  if (quota == kNoLimit || period == kNoLimit || period == 0) return kNoLimit;
  return std::max<std::size_t>(1, quota / period + (quota % period != 0 ? 1 : 0));
}

std::size_t processors_of_group(const fs::path& folder, GroupVersion version) {
  if (version == GroupVersion::kFirst)  // the quota is -1 where there is no limit
    return processors_of(number_in_group(folder / "cpu.cfs_quota_us"), number_in_group(folder / "cpu.cfs_period_us"));
  std::ifstream stream(folder / "cpu.max");
  std::size_t quota = 0;
  std::size_t period = 0;
  return stream >> quota >> period ? processors_of(quota, period) : kNoLimit;
}

int processors_of_affinity() {
  // Machines have more processors than cpu_set_t has bits.
  for (int most = CPU_SETSIZE; most <= 1 << 20; most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(CPU_ALLOC(most), [](cpu_set_t* set) { CPU_FREE(set); });
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    if (mask && sched_getaffinity(0, bytes, mask.get()) == 0) return CPU_COUNT_S(bytes, mask.get());
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::size_t control_group_processors(const fs::path& root, std::string_view groups) {
  return least_of_groups(root, groups, "cpu", processors_of_group);
}

int available_processors() {
  const auto usable = static_cast<std::size_t>(std::max(processors_of_affinity(), 1));
  return static_cast<int>(std::min(usable, control_group_processors(kGroupsRoot, groups_of_process())));
}

}  // namespace saccade
