#pragma once

#include <chrono>
#include <saccade/pipeline.hpp>
#include <string>
#include <string_view>

namespace saccade::app {

/// A line on the terminal that says how a pipeline is doing: rate, latency, drops. Silent where standard error is no
/// terminal.
class Progress {
 public:
  Progress();
  /// Draws anew where the last time was long enough ago.
  void update(const Pipeline& pipeline);
  /// Wipes the line.
  void finish();

 private:
  std::chrono::steady_clock::time_point next_;
  bool is_terminal_;
  bool drawn_ = false;
};

/// "[=====>    ]  52 %" of a SHARE from 0 to 1.
std::string bar(double share);

/// A line on the terminal that says what is being done; silent where standard error is no terminal.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { finish(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Draws TEXT where the last time was long enough ago.
  void say(std::string_view text);
  /// Wipes the line.
  void finish();

 private:
  std::chrono::steady_clock::time_point next_;
  bool is_terminal_;
  bool drawn_ = false;
};

}  // namespace saccade::app
