#pragma once

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace saccade {

/// Some consecutive runs.
struct Block {
  std::vector<std::chrono::nanoseconds> latencies;              ///< per run
  std::array<std::vector<std::chrono::nanoseconds>, 3> stages;  ///< the same runs, by Stage; empty: unknown
  std::chrono::nanoseconds wall{};                              ///< from the first run's start to the last one's end
};

/// An engine with a loaded model and bound inputs.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual const std::string& name() const = 0;
  /// UNMEASURED runs, then at least RUNS measured ones. Throws Error.
  virtual Block run(int unmeasured, int runs) = 0;
  /// Returns once the engine's threads are idle: another engine's turn begins.
  virtual void wait_until_idle() = 0;
};

}  // namespace saccade
