#include "cpu/team/parallel.hpp"

#include <atomic>

namespace saccade::cpu {
namespace {

// More balance the load better and cost more cache misses at their borders.
constexpr std::int64_t kPartsPerRank = 4;

}  // namespace

LoopParts::LoopParts(std::int64_t count, std::int64_t grain, int ranks)
    : count_(count), ranks_(static_cast<int>(std::min<std::int64_t>({ranks, count / grain, kRanks}))) {
  parts_ = std::clamp<std::int64_t>(count / grain / ranks_, 1, kPartsPerRank);
  for (int rank = 0; rank < ranks_; ++rank) next_[static_cast<std::size_t>(rank)].part = 0;
}

std::int64_t LoopParts::take(int rank) {
  for (int i = 0; i < ranks_; ++i) {
    const int owner = (rank + i) % ranks_;
    const std::atomic_ref next(next_[static_cast<std::size_t>(owner)].part);
    if (next.load(std::memory_order_relaxed) >= parts_) continue;
    const std::int64_t part = next.fetch_add(1, std::memory_order_relaxed);
    if (part < parts_) return owner * parts_ + part;
  }
  return -1;
}

}  // namespace saccade::cpu
