#pragma once

#include <memory>
#include <string>

#include "measure/limits/ceilings.hpp"

namespace saccade {

/// The peak of the CPU backend itself: GEMMs large enough to be compute-bound and small enough to stay in cache,
/// compiled to plans like any model. If a library's kernel beats our own loops, it determines the ceiling.
class LibraryProbe {
 public:
  /// Compiles the plans. Throws Error if the cpu module is not installed.
  explicit LibraryProbe(int threads);
  ~LibraryProbe();

  /// Runs each once, on one and on all threads, and raises CEILINGS: operations per second by library, the overhead of
  /// a launch and of waking all threads.
  void measure(Ceilings& ceilings);
  const std::string& device() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade
