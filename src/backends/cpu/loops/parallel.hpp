#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "cpu/loops/nan_watch.hpp"

namespace saccade::cpu {

/// Elements of memory-bound work for which waking another thread does not pay.
constexpr std::int64_t kParallelGrain = 16384;

/// Splits 0..COUNT into one range per thread and runs BODY(begin, end) on each; returns when all are done. Runs on the
/// calling thread alone if COUNT is less than GRAIN for each of two threads. The team always has its full size, because
/// libgomp ends and starts threads whenever it changes.
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

/// Sets the number of threads of the calling thread's parallel regions. Throws Error (kUnsupported) if the system can't
/// start them; libgomp would end the process.
void set_team_size(int threads);

/// Ends the calling thread's workers. libgomp's workers spin between parallel regions only while all teams of the
/// process have no more threads than there are cores; otherwise they sleep, and waking them takes longer than a small
/// layer. Therefore a thread that no longer runs plans must not keep its team.
inline void end_team() { omp_pause_resource_all(omp_pause_soft); }

}  // namespace saccade::cpu
