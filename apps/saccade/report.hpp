#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace saccade::app {

/// Where a verb's report goes: every word that a verb prints goes through here.
enum class Channel { kOutput, kError };

/// Prints TEXT at once. Throws Error (kIo) where it can't be written, so that a report that is lost is no success.
void print_report(std::string_view text, Channel channel = Channel::kOutput);
/// JSON on a line; bytes that are no UTF-8 become U+FFFD.
void print_json(const nlohmann::json& json);
void print_json(const nlohmann::ordered_json& json);

/// As fmt::print.
template <typename First, typename... Args>
void print_report(fmt::format_string<First, Args...> format, First&& first, Args&&... args) {
  print_report(fmt::format(format, std::forward<First>(first), std::forward<Args>(args)...));
}

/// A word for people on standard error; where nobody can read it, it is gone.
void print_aside(std::string_view text) noexcept;

/// Opens what of standard input, output and error is closed, so that no file of the user's takes its number; writing
/// there fails, as it did. A reader that goes away and a limit of files' sizes become errors of the write in place of
/// signals.
void keep_standard_streams() noexcept;

}  // namespace saccade::app
