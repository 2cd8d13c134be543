#pragma once

#include <chrono>
#include <saccade/pipeline.hpp>
#include <string>
#include <string_view>

namespace saccade::app {

/// "[=====>    ]  52 %" of a SHARE from 0 to 1.
std::string bar(double share);

/// A line on the terminal that says what is being done; silent where standard error is no terminal. What is printed
/// after it, an error, finds it wiped.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { finish(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether say() would draw: there is a terminal, and the last time was long enough ago.
  bool is_due() const;
  /// Draws TEXT where it is due.
  void say(std::string_view text);
  /// Wipes the line.
  void finish();

 private:
  std::chrono::steady_clock::time_point next_;
  bool is_terminal_;
  bool drawn_ = false;
};

/// A status line that says how a pipeline is doing: rate, latency, drops.
class Progress {
 public:
  void update(const Pipeline& pipeline);
  void finish() { line_.finish(); }

 private:
  StatusLine line_;
};

}  // namespace saccade::app
