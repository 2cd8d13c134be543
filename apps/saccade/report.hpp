#pragma once

#include <fmt/format.h>

#include <concepts>
#include <nlohmann/json_fwd.hpp>
#include <saccade/printable.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace saccade::app {

/// Where a verb's report goes: every word that a verb prints goes through here.
enum class Channel { kOutput, kError };

/// Prints TEXT at once, printable_lines() of it. Throws Error (kIo) where it can't be written, so that a report that is
/// lost is no success.
void print_report(std::string_view text, Channel channel = Channel::kOutput);
/// JSON on a line, printable_json().
void print_json(const nlohmann::json& json);
void print_json(const nlohmann::ordered_json& json);

/// A string of a report, printable(); a number as it is.
template <typename Arg>
requires std::convertible_to<const Arg&, std::string> || std::same_as<Arg, std::string_view> std::string shown(
    const Arg& arg) {
  return printable(arg);
}
template <typename Arg>
requires std::is_arithmetic_v<Arg> Arg shown(Arg arg) { return arg; }

/// As fmt::print; each of ARGS is shown(), so that no name can end a line or steer the terminal.
template <typename First, typename... Args>
void print_report(fmt::format_string<decltype(shown(std::declval<const std::remove_cvref_t<First>&>())),
                                     decltype(shown(std::declval<const std::remove_cvref_t<Args>&>()))...>
                      format,
                  const First& first, const Args&... args) {
  print_report(fmt::format(format, shown(first), shown(args)...));
}

/// A word for people on standard error, as it is; where nobody can read it, it is gone.
void print_aside(std::string_view text) noexcept;

/// Opens what of standard input, output and error is closed, so that no file of the user's takes its number; writing
/// there fails, as it did. A reader that goes away and a limit of files' sizes become errors of the write in place of
/// signals.
void keep_standard_streams() noexcept;

}  // namespace saccade::app
