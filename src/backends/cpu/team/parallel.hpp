#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "cpu/team/nan_watch.hpp"
#include "cpu/team/team.hpp"

namespace saccade::cpu {

/// Elements of memory-bound work for which waking another thread does not pay.
constexpr std::int64_t kParallelGrain = 16384;
/// The same in operations of a GEMM.
constexpr std::int64_t kParallelOperations = 400'000;
/// The same in bfloat16 with AMX, several times as fast.
constexpr std::int64_t kParallelHalfOperations = 8 * kParallelOperations;

/// The parts of a loop: consecutive ones belong to one rank, which keeps its rows in its cache. A rank that is done
/// takes those of others.
class LoopParts {
 public:
  static constexpr int kRanks = 128;

  LoopParts(std::int64_t count, std::int64_t grain, int ranks);

  int ranks() const { return ranks_; }
  /// The next part for RANK; -1 if none is left.
  std::int64_t take(int rank);
  std::int64_t begin(std::int64_t part) const { return count_ * part / (parts_ * ranks_); }

 private:
  struct alignas(64) Next {
    std::int64_t part;
  };

  std::int64_t count_;
  int ranks_;
  std::int64_t parts_;  // of each rank
  std::array<Next, kRanks> next_;
};

/// Splits 0..COUNT into ranges of at least GRAIN and runs BODY(begin, end) for each, several per thread; returns when
/// all are done. Runs on the calling thread alone if COUNT is less than GRAIN for each of two threads, and in a region.
/// BODY must not throw. current_rank().rank differs between threads that run it at the same time.
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (count < 2 * grain || team_size() == 1 || in_region()) {
    body(std::int64_t{0}, count);
    return;
  }
  struct Job {
    const Body& body;
    LoopParts parts;
  } job{body, LoopParts(count, grain, team_size())};
  const auto run = [](void* data, int rank) {
    auto& [own, parts] = *static_cast<Job*>(data);
    const NoteKeeper keeper;
    for (std::int64_t part = parts.take(rank); part >= 0; part = parts.take(rank))
      own(parts.begin(part), parts.begin(part + 1));
  };
  run_region(Ranks::kAny, job.parts.ranks(), {.run = run, .data = &job});
}

}  // namespace saccade::cpu
