#include "base/log.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/enum_name.hpp"
#include "base/printable.hpp"

namespace saccade {
namespace {

std::atomic<LogLevel> current{LogLevel::kWarning};
std::atomic<bool> lost{false};
std::atomic<LogWriter> replacement{nullptr};
thread_local LogTrace current_trace;

/// False if standard error does not accept all of TEXT.
bool write_whole(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void set_log_level(LogLevel level) noexcept { current.store(level, std::memory_order_relaxed); }

LogLevel log_level() noexcept { return current.load(std::memory_order_relaxed); }

bool lost_messages() noexcept { return lost.load(std::memory_order_relaxed); }

std::string_view to_string(LogLevel level) noexcept {
  constexpr std::array<std::string_view, 4> names = {"error", "warning", "info", "debug"};
  return enum_name(level, names);
}

LogTraceScope::LogTraceScope(const LogTrace& trace) noexcept : previous_(std::exchange(current_trace, trace)) {}

LogTraceScope::~LogTraceScope() { current_trace = previous_; }

void set_log_writer(LogWriter writer) noexcept { replacement = writer; }

void write_log(LogLevel level, std::string_view message) noexcept {
  if (const LogWriter writer = replacement) return writer(level, message);
  try {
    fmt::memory_buffer line;  // on the stack: a warning on the frame path must not allocate
    fmt::format_to(std::back_inserter(line), "saccade: {}: ", to_string(level));
    append_printable(line, message);
    if (const auto& [trace, span] = current_trace; !trace.empty())
      fmt::format_to(std::back_inserter(line), " (trace_id={} span_id={})", trace, span);
    line.push_back('\n');
    // One write per line, so that lines of several threads do not mix.
    if (!write_whole({line.data(), line.size()})) lost.store(true, std::memory_order_relaxed);
  } catch (...) {  // a message that cannot be written must not end the program
    lost.store(true, std::memory_order_relaxed);
  }
}

}  // namespace saccade
