#include "base/digest.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace saccade {
namespace {

/// Every bit of the result depends on all of STATE (the finisher of MurmurHash3).
std::uint64_t mixed(std::uint64_t state) {
  state = (state ^ state >> 33) * 0xFF51AFD7ED558CCD;
  state = (state ^ state >> 33) * 0xC4CEB9FE1A85EC53;
  return state ^ state >> 33;
}

}  // namespace

std::string digest(std::string_view bytes) {
  std::uint64_t first = 0x9E3779B97F4A7C15 ^ bytes.size();
  std::uint64_t second = 0xC2B2AE3D27D4EB4F + bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    first = std::rotl((first ^ word) * 0x9FB21C651E98DF25, 29) + second;
    second = std::rotl((second + word) * 0xD6E8FEB86659FD93, 31) ^ first;
  }
  return fmt::format("{:016x}{:016x}", mixed(first), mixed(second ^ mixed(first)));
}

}  // namespace saccade
