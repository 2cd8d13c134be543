#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saccade {

/// One level of data caches of the CPU that this runs on.
struct CpuCache {
  std::string name;        ///< "L1d", "L2", "L3"
  std::int64_t bytes = 0;  ///< of one cache
  int sharers = 1;         ///< logical CPUs that have one together

  /// Bytes of all the caches of this level that so many threads, one a CPU and neighbours first, have together.
  std::int64_t total(int threads) const { return bytes * ((threads + sharers - 1) / sharers); }
};

/// The data caches, the closest to the core first, as the kernel describes them (ROOT/sys/devices/system/cpu/cpu0).
/// Where it doesn't, 32 KiB, 1 MiB and 8 MiB shared by all are assumed.
std::vector<CpuCache> cpu_caches(const std::string& root = "");

}  // namespace saccade
