#pragma once

#include <chrono>
#include <saccade/outcome.hpp>
#include <set>
#include <string>
#include <vector>

namespace saccade::app {

/// The sources that a run loses and the frames on which its models fail. Each lost source is a warning, and so is the
/// first failed frame of a source, unless the run ends with it: then it is the error at the end.
class RunFaults {
 public:
  /// After PATIENCE without the end of the run, it goes on.
  explicit RunFaults(std::chrono::nanoseconds patience = std::chrono::seconds(1)) : patience_(patience) {}

  /// FAILURE is Status::kLost or Status::kFailed, or ends the run.
  void add(const Failure& failure);
  /// The run has not ended. HAS_RESULT: there was a result after the faults.
  void update(bool has_result);
  /// The first one; empty: none.
  const std::string& first() const { return first_; }

 private:
  std::chrono::nanoseconds patience_;
  std::string first_;
  std::set<std::string> failing_;  ///< sources with failed frames
  std::vector<std::string> held_;  ///< warnings
  std::chrono::steady_clock::time_point held_since_;
};

}  // namespace saccade::app
