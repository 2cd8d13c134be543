#pragma once

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace saccade {

/// A few runs after one another.
struct Block {
  std::vector<std::chrono::nanoseconds> latencies;              ///< one a run
  std::array<std::vector<std::chrono::nanoseconds>, 3> stages;  ///< the same runs, by Stage; empty: not known
  std::chrono::nanoseconds wall{};                              ///< from the first run's start to the last one's end
};

/// An engine with a model loaded and its inputs in place.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual const std::string& name() const = 0;
  /// UNMEASURED runs, then at least RUNS measured ones. Throws Error.
  virtual Block run(int unmeasured, int runs) = 0;
  /// Returns when the engine's threads have stopped looking for work: another one's turn begins.
  virtual void settle() = 0;
};

}  // namespace saccade
