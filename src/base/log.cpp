#include "base/log.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <iterator>

namespace saccade {
namespace {

std::atomic<LogLevel> current{LogLevel::kWarning};

}  // namespace

void set_log_level(LogLevel level) noexcept { current.store(level, std::memory_order_relaxed); }

LogLevel log_level() noexcept { return current.load(std::memory_order_relaxed); }

std::string_view to_string(LogLevel level) noexcept {
  constexpr std::array<std::string_view, 4> names = {"error", "warning", "info", "debug"};
  return names[static_cast<std::size_t>(level)];
}

void write_log(LogLevel level, std::string_view message) noexcept {
  try {
    fmt::memory_buffer line;  // a frame's warning allocates nothing
    fmt::format_to(std::back_inserter(line), "saccade: {}: {}\n", to_string(level), message);
    // One write a line keeps lines of several threads apart.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {  // a message that can't be written must not end the program
  }
}

}  // namespace saccade
