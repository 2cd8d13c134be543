#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "saccade/log.hpp"

namespace saccade {

/// Writes MESSAGE, printable(), as one line to standard error. Any thread; lines do not mix. Sets lost_messages() on
/// failure.
void write_log(LogLevel level, std::string_view message) noexcept;

/// The distributed trace and the span of it that a thread works for, in hexadecimal; empty: none.
struct LogTrace {
  std::string_view trace_id;
  std::string_view span_id;
};

/// While it lives, the messages of its thread end with TRACE, whose text outlives it.
class LogTraceScope {
 public:
  explicit LogTraceScope(const LogTrace& trace) noexcept;
  ~LogTraceScope();
  LogTraceScope(const LogTraceScope&) = delete;
  LogTraceScope& operator=(const LogTraceScope&) = delete;

 private:
  LogTrace previous_;
};

/// Receives the messages of write_log() in the place of standard error. Any thread.
using LogWriter = void (*)(LogLevel level, std::string_view message) noexcept;
void set_log_writer(LogWriter writer) noexcept;

/// Logs a formatted message if LEVEL is enabled; costs one load otherwise.
template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (level <= log_level()) write_log(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace saccade
