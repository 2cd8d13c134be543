#pragma once

#include <cfenv>

// How a kernel that drops NaN is caught at no cost. oneDNN's maxima and minima (Relu, Clip, the clamps of exponentials)
// return a number where their operand is NaN, but the processor notes in the thread's floating-point environment that
// an operation was invalid: a comparison, a maximum or a minimum of a NaN, or one that makes a NaN of numbers. The note
// stays until it is cleared. So one look behind the last such kernel of a run tells whether any of its results is in
// doubt; only then the run is repeated by kernels that keep NaN.
//
// A kernel of ours may look at the note itself and repeat a part of its work (max_pool.cpp).
//
// A worker thread runs nothing but oneDNN's primitives and parallel_for()'s bodies; these leave the note as they find
// it. The thread that calls runs anything: it begins and ends a watch around each primitive.
namespace saccade::cpu {

/// Whether the calling thread has a note, which goes.
inline bool take_note() {
  if (std::fetestexcept(FE_INVALID) == 0) return false;
  std::feclearexcept(FE_INVALID);
  return true;
}

/// Forgets what the calling thread's other work left noted.
void begin_watch();
/// Keeps what was noted since begin_watch() for met_nan().
void end_watch();
/// Whether anything was noted since the last call, on the calling thread's watches or by one of its workers.
bool met_nan();

/// Leaves a thread's note as it was when this was made.
class NoteKeeper {
 public:
  NoteKeeper() : noted_(std::fetestexcept(FE_INVALID) != 0) {}
  ~NoteKeeper() {
    const bool is_noted = std::fetestexcept(FE_INVALID) != 0;
    if (is_noted && !noted_) std::feclearexcept(FE_INVALID);
    if (!is_noted && noted_) std::feraiseexcept(FE_INVALID);
  }
  NoteKeeper(const NoteKeeper&) = delete;
  NoteKeeper& operator=(const NoteKeeper&) = delete;

 private:
  bool noted_;
};

}  // namespace saccade::cpu
