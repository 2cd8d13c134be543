#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saccade {

/// One level of data caches of this CPU.
struct CpuCache {
  std::string name;        ///< "L1d", "L2", "L3"
  std::int64_t bytes = 0;  ///< of one cache
  int sharers = 1;         ///< logical CPUs that share one

  /// Total capacity of the caches of this level that so many threads use, one per CPU and neighbours first.
  std::int64_t total(int threads) const { return bytes * ((threads + sharers - 1) / sharers); }
};

/// The data caches, closest to the core first, as reported by the kernel (ROOT/sys/devices/system/cpu/cpu0). If it does
/// not, 32 KiB, 1 MiB and 8 MiB shared by all are assumed.
std::vector<CpuCache> cpu_caches(const std::string& root = "");

}  // namespace saccade
