#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "cpu/loops/nan_watch.hpp"

namespace saccade::cpu {

/// Elements of memory-bound work below which waking another thread costs more than it saves.
constexpr std::int64_t kParallelGrain = 16384;

/// Splits 0..COUNT into one range a thread and runs BODY(begin, end) on each; returns when all are done. Stays on the
/// calling thread while COUNT gives no two threads GRAIN each. The team is always the whole one: libgomp ends and
/// starts threads whenever a team's size changes.
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  if (count < 2 * std::max<std::int64_t>(grain, 1) || omp_get_max_threads() == 1 || omp_in_parallel() != 0) {
    body(std::int64_t{0}, count);
    return;
  }
#pragma omp parallel
  {
    const std::int64_t threads = omp_get_num_threads();
    const std::int64_t rank = omp_get_thread_num();
    const std::int64_t begin = count * rank / threads;
    const std::int64_t end = count * (rank + 1) / threads;
    const NoteKeeper keeper;
    if (begin < end) body(begin, end);
  }
}

/// From now on the calling thread's parallel regions have so many threads. Throws Error (kUnsupported) where the system
/// would not start them: libgomp ends the process there.
void set_team_size(int threads);

/// Ends the calling thread's workers. libgomp's workers spin between two parallel regions only while all teams of the
/// process together have no more threads than there are cores; else they sleep, and waking them takes longer than a
/// small layer. So a thread that runs no plans any more must not keep a team beside the one that does.
inline void end_team() { omp_pause_resource_all(omp_pause_soft); }

}  // namespace saccade::cpu
