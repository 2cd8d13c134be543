#include "base/digest.hpp"

#define XXH_INLINE_ALL  // header-only: libsaccade depends on the C++ runtime only
#include <fmt/format.h>
#include <xxhash.h>

namespace saccade {

std::string digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace saccade
