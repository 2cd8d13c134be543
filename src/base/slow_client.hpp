#pragma once

#include <chrono>
#include <cstddef>

namespace saccade {

// Timeouts of clients that send or receive slowly, by HTTP and by gRPC.

/// Of headers, and of each piece of a body.
inline constexpr std::chrono::seconds kClientTimeout{10};

/// Of a body of BYTES in all, at 256 KiB per second.
constexpr std::chrono::seconds transfer_timeout(std::size_t bytes) {
  constexpr std::size_t kSlowestBytesPerSecond = 256 << 10;
  return kClientTimeout + std::chrono::seconds(bytes / kSlowestBytesPerSecond);
}

}  // namespace saccade
