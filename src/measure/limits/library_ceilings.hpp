#pragma once

#include <memory>
#include <string>

#include "measure/limits/ceilings.hpp"

namespace saccade {

/// What the CPU backend itself reaches: products large enough to be nothing but arithmetic and small enough to stay in
/// cache, compiled to plans like any model. A kernel of a library that beats our own is part of the ceiling.
class LibraryProbe {
 public:
  /// Compiles the plans. Throws Error where the cpu module is not installed.
  explicit LibraryProbe(int threads);
  ~LibraryProbe();

  /// Runs each once, alone and on all threads, and takes what is better into CEILINGS: operations per second by what
  /// runs them, the cost of a launch and of waking all threads.
  void measure(Ceilings& ceilings);
  const std::string& device() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade
