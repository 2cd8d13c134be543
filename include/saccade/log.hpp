#pragma once

#include <cstdint>
#include <string_view>

namespace saccade {

/// How much a message matters, most first.
enum class LogLevel : std::uint8_t { kError, kWarning, kInfo, kDebug };

/// Messages up to this level are written to standard error; the default is kWarning. Any thread.
void set_log_level(LogLevel level) noexcept;
/// The level in effect. Any thread.
LogLevel log_level() noexcept;
/// Whether a message could not be written: standard error is closed, full or a pipe without a reader.
bool lost_messages() noexcept;
/// "error", "warning", "info", "debug"
std::string_view to_string(LogLevel level) noexcept;

}  // namespace saccade
