#include "runtime/memory_planner.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace saccade {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

bool meet(const MemoryRequest& a, const MemoryRequest& b) { return a.first <= b.last && b.first <= a.last; }

/// The lowest offset at which REQUEST fits between PLACED, which are sorted by offset.
std::size_t lowest_gap(const MemoryRequest& request, const std::vector<const MemoryRequest*>& placed) {
  std::size_t offset = 0;
  for (const MemoryRequest* other : placed) {
    if (!meet(request, *other)) continue;
    if (offset + aligned(request.bytes) <= other->offset) break;
    offset = std::max(offset, other->offset + aligned(other->bytes));
  }
  return offset;
}

}  // namespace

std::size_t plan_memory(std::span<MemoryRequest> requests) {
  std::vector<std::size_t> by_size(requests.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::ranges::stable_sort(by_size,
                           [&](std::size_t a, std::size_t b) { return requests[a].bytes > requests[b].bytes; });
  std::vector<const MemoryRequest*> placed;
  std::size_t arena = 0;
  for (std::size_t i : by_size) {
    MemoryRequest& request = requests[i];
    request.offset = lowest_gap(request, placed);
    arena = std::max(arena, request.offset + aligned(request.bytes));
    const auto place = std::ranges::upper_bound(placed, request.offset, {}, &MemoryRequest::offset);
    placed.insert(place, &request);
  }
  return arena;
}

}  // namespace saccade
