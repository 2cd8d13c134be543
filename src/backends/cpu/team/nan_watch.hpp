#pragma once

#include <cfenv>

// Detects kernels that lose NaN, without a cost per element. oneDNN's maxima and minima (Relu, Clip, the clamps of
// exponentials) return a number for a NaN operand, but the processor sets FE_INVALID in the thread's floating-point
// environment: for a comparison, maximum or minimum of a NaN, and for operations that create one. The flag is sticky.
// One check after the last such kernel of a run therefore tells whether a result is in doubt; only then the run is
// repeated with kernels that keep NaN.
//
// Our own kernels may check the flag and repeat a part of their work (max_pool.cpp).
//
// The flag of a worker that has run a rank of oneDNN's is raised in the owner's thread at the end of the region
// (region.cpp). The owner runs other code, too: it begins and ends a watch around each primitive.
namespace saccade::cpu {

/// Tests and clears the flag of the calling thread.
inline bool take_note() {
  if (std::fetestexcept(FE_INVALID) == 0) return false;
  std::feclearexcept(FE_INVALID);
  return true;
}

/// Clears the flag, which other work of the calling thread may have set.
void begin_watch();
/// Keeps the flag since begin_watch() for met_nan().
void end_watch();
/// Reports a NaN that a kernel found by itself.
void note_nan();
/// Whether the flag was set since the last call in a watch of the calling thread, or note_nan() was called.
bool met_nan();

/// Restores the flag of the thread at the end of the scope.
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
