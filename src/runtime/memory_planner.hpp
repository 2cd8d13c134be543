#pragma once

#include <cstddef>
#include <span>

namespace saccade {

/// A block of memory that is live from time FIRST to time LAST, inclusive.
struct MemoryRequest {
  std::size_t bytes = 0;
  int first = 0;
  int last = 0;
  std::size_t offset = 0;  ///< set by plan_memory(), a multiple of kArenaAlignment
};

inline constexpr std::size_t kArenaAlignment = 64;

/// Assigns offsets so that requests with overlapping lifetimes do not overlap, and returns the size of the arena.
/// Greedy by size (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020): the largest
/// request first, each at the lowest gap that fits. Beyond some ten thousand requests in order of their start, which
/// takes slightly more memory and far less time.
std::size_t plan_memory(std::span<MemoryRequest> requests);

}  // namespace saccade
