#include "runtime/memory_planner.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <vector>

namespace saccade {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

bool meet(const MemoryRequest& a, const MemoryRequest& b) { return a.first <= b.last && b.first <= a.last; }

/// The lowest offset at which REQUEST fits among PLACED, which are sorted by offset.
std::size_t lowest_gap(const MemoryRequest& request, const std::vector<const MemoryRequest*>& placed) {
  std::size_t offset = 0;
  for (const MemoryRequest* other : placed) {
    if (!meet(request, *other)) continue;
    if (offset + aligned(request.bytes) <= other->offset) break;
    offset = std::max(offset, other->offset + aligned(other->bytes));
  }
  return offset;
}

// Networks have a few thousand requests. Each is compared with all placed ones, so that hundreds of thousands would
// take minutes.
constexpr std::size_t kMaxBySize = 1 << 14;

/// The free blocks of an arena, with a best-fit allocator.
class Holes {
 public:
  std::size_t take(std::size_t bytes) {
    const auto fits = by_size_.lower_bound({bytes, 0});
    if (fits == by_size_.end()) return take_end(bytes);
    const auto [size, offset] = *fits;
    erase(offset, size);
    if (size != bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  /// Frees a block and merges it with adjacent holes.
  void give(std::size_t offset, std::size_t bytes) {
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && offset + bytes == after->first) {
      bytes += after->second;
      erase(after->first, after->second);
      after = by_offset_.lower_bound(offset);
    }
    if (after != by_offset_.begin()) {
      const auto [before, size] = *std::prev(after);
      if (before + size == offset) {
        erase(before, size);
        offset = before;
        bytes += size;
      }
    }
    insert(offset, bytes);
  }

  std::size_t end() const { return end_; }

 private:
  /// No hole fits: the arena grows, starting with a hole at its end if there is one.
  std::size_t take_end(std::size_t bytes) {
    std::size_t offset = end_;
    if (!by_offset_.empty()) {
      const auto [last, size] = *by_offset_.rbegin();
      if (last + size == end_) {
        offset = last;
        erase(last, size);
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  void insert(std::size_t offset, std::size_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void erase(std::size_t offset, std::size_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<std::size_t, std::size_t> by_offset_;
  std::set<std::pair<std::size_t, std::size_t>> by_size_;
  std::size_t end_ = 0;
};

/// Requests in order of their start, each in the smallest hole that fits: n log n.
std::size_t plan_in_time(std::span<MemoryRequest> requests) {
  std::vector<MemoryRequest*> by_start;
  for (MemoryRequest& request : requests) by_start.push_back(&request);
  std::ranges::stable_sort(by_start, {}, &MemoryRequest::first);
  const auto dies_later = [](const MemoryRequest* a, const MemoryRequest* b) { return a->last > b->last; };
  std::priority_queue<const MemoryRequest*, std::vector<const MemoryRequest*>, decltype(dies_later)> alive(dies_later);
  Holes holes;
  for (MemoryRequest* request : by_start) {
    for (; !alive.empty() && alive.top()->last < request->first; alive.pop())
      holes.give(alive.top()->offset, aligned(alive.top()->bytes));
    request->offset = 0;
    if (request->bytes == 0) continue;
    request->offset = holes.take(aligned(request->bytes));
    alive.push(request);
  }
  return holes.end();
}

}  // namespace

std::size_t plan_memory(std::span<MemoryRequest> requests) {
  if (requests.size() > kMaxBySize) return plan_in_time(requests);
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
