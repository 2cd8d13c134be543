#include "cpu/loops/nan_watch.hpp"

#include <omp.h>

#include <utility>

namespace saccade::cpu {
namespace {

thread_local bool noted_here = false;

}  // namespace

void begin_watch() { take_note(); }

void end_watch() { noted_here = take_note() || noted_here; }

bool met_nan() {
  bool met = std::exchange(noted_here, false);
  if (omp_get_max_threads() == 1 || omp_in_parallel() != 0) return met;
#pragma omp parallel reduction(|| : met)
  {
    if (omp_get_thread_num() != 0) met = take_note() || met;
  }
  return met;
}

}  // namespace saccade::cpu
