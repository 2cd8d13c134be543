#pragma once

#include <cstddef>
#include <span>

namespace saccade {

/// A stretch of memory that is needed from step FIRST to step LAST, both included.
struct MemoryRequest {
  std::size_t bytes = 0;
  int first = 0;
  int last = 0;
  std::size_t offset = 0;  ///< set by plan_memory(), a multiple of kArenaAlignment
};

inline constexpr std::size_t kArenaAlignment = 64;

/// Gives every request an offset such that requests alive at the same step never overlap, and returns the size of the
/// arena that holds them all. Greedy by size (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
/// Inference", 2020): the largest request first, each at the lowest gap that fits among those already placed. Beyond
/// some ten thousand requests in the order of their lives instead, which takes a little more memory and far less time.
std::size_t plan_memory(std::span<MemoryRequest> requests);

}  // namespace saccade
