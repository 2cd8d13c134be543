#include "base/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace saccade {

bool is_reserved(int descriptor) {
  constexpr rlim_t kReserve = 256;
  constexpr rlim_t kLeastPart = 4;  // of a low limit
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  // The kernel gives the lowest number that is free.
  return static_cast<rlim_t>(descriptor) >= limit.rlim_cur - std::min(kReserve, limit.rlim_cur / kLeastPart);
}

}  // namespace saccade
