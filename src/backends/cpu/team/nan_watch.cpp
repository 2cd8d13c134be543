#include "cpu/team/nan_watch.hpp"

#include <atomic>
#include <utility>

#include "cpu/team/foreign_openmp.hpp"

namespace saccade::cpu {
namespace {

thread_local bool noted_here = false;

/// Whether a worker of the program's OpenMP has the flag set; clears them all.
bool noted_elsewhere(const ForeignOpenMp& foreign) {
  std::atomic<bool> met = false;
  const auto ask = [](void* found) {
    if (take_note()) static_cast<std::atomic<bool>*>(found)->store(true, std::memory_order_relaxed);
  };
  foreign.parallel(ask, &met, 0, 0);
  return met;
}

}  // namespace

void begin_watch() { take_note(); }

void end_watch() { noted_here = take_note() || noted_here; }

void note_nan() { noted_here = true; }

bool met_nan() {
  const bool met = std::exchange(noted_here, false);
  if (const ForeignOpenMp* foreign = foreign_openmp()) return noted_elsewhere(*foreign) || met;
  return met;
}

}  // namespace saccade::cpu
