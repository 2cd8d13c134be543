#pragma once

#include <chrono>
#include <cstddef>

namespace saccade {

// What a server bears of a client that sends or receives slowly, by HTTP and by gRPC.

/// Of headers, and of each piece of a body.
inline constexpr std::chrono::seconds kClientPatience{10};

/// Of a body of BYTES in all: the time of a line of 256 KiB per second.
constexpr std::chrono::seconds patience_for(std::size_t bytes) {
  constexpr std::size_t kSlowestBytesPerSecond = 256 << 10;
  return kClientPatience + std::chrono::seconds(bytes / kSlowestBytesPerSecond);
}

}  // namespace saccade
