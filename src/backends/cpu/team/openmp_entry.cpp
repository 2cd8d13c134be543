// The part of OpenMP's run-time library that Debian's oneDNN uses, on our team of threads. The loader finds these in
// the module that has opened oneDNN before it looks into libgomp.
#include "cpu/team/team.hpp"

#define SACCADE_ENTRY extern "C" __attribute__((visibility("default")))

using saccade::cpu::current_rank;

namespace {

struct Outlined {
  void (*function)(void*);
  void* data;
};

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): the names of OpenMP's library

/// `#pragma omp parallel`: runs FUNCTION(DATA) on THREADS ranks, 0 for as many as the calling thread has set.
SACCADE_ENTRY void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned) {
  Outlined outlined{function, data};
  const int ranks = threads == 0 ? saccade::cpu::team_size() : static_cast<int>(threads);
  const auto run = [](void* call, int) {
    const auto& own = *static_cast<Outlined*>(call);
    own.function(own.data);
  };
  saccade::cpu::run_region(saccade::cpu::Ranks::kAll, ranks, {.run = run, .data = &outlined});
}

SACCADE_ENTRY void GOMP_barrier() { saccade::cpu::wait_at_barrier(); }
SACCADE_ENTRY int omp_get_max_threads() { return saccade::cpu::team_size(); }
SACCADE_ENTRY int omp_get_num_threads() { return current_rank().ranks; }
SACCADE_ENTRY int omp_get_thread_num() { return current_rank().rank; }
SACCADE_ENTRY int omp_in_parallel() { return saccade::cpu::in_region() ? 1 : 0; }

// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
