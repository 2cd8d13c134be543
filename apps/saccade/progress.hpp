#pragma once

#include <chrono>
#include <saccade/pipeline.hpp>
#include <string>
#include <string_view>

namespace saccade::app {

/// "[=====>    ]  52 %" of a SHARE from 0 to 1.
std::string bar(double share);

/// "WHAT [=====>    ]  52 %, 12 s left" of a SHARE from 0 to 1 that took ELAPSED; without the time left while that is
/// too early to tell.
std::string share_text(std::string_view what, double share, std::chrono::nanoseconds elapsed);

/// A status line on the terminal; silent if standard error is not a terminal. It is cleared before anything else is
/// printed. Shares are also written for a program that started the command: as lines "SHARE STEP" to the pipe whose
/// descriptor is in SACCADE_STATUS_FD.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { finish(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether say() would print: there is a terminal and the last update was long enough ago.
  bool is_due() const;
  /// Prints TEXT if it is due.
  void say(std::string_view text);
  /// Prints share_text() if it is due, and writes the share to the pipe. The time counts from the first SHARE of WORK,
  /// which STEP is a part of.
  void say(std::string_view work, std::string_view step, double share);
  /// Writes SHARE of STEP to the pipe alone.
  void write_share(std::string_view step, double share);
  /// Calls PRINT, which prints whole lines, above the status line.
  template <typename Print>
  void print_above(const Print& print) {
    const bool was_drawn = drawn_;
    finish();
    print();
    if (was_drawn) draw();
  }
  /// Clears the line.
  void finish();

 private:
  void draw();

  std::string text_;
  std::chrono::steady_clock::time_point next_;
  std::chrono::steady_clock::time_point start_;
  std::string work_;  ///< that start_ belongs to
  bool is_terminal_;
  bool drawn_ = false;
  int pipe_;  ///< -1: none
  std::chrono::steady_clock::time_point next_share_;
};

/// The status line of a pipeline: rate, latency, drops.
class Progress {
 public:
  void update(const Pipeline& pipeline);
  /// As StatusLine::print_above().
  template <typename Print>
  void print_above(const Print& print) {
    line_.print_above(print);
  }
  void finish() { line_.finish(); }

 private:
  StatusLine line_;
};

}  // namespace saccade::app
