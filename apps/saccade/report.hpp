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

/// Output of reports: all text that a command prints goes through here.
enum class Channel { kOutput, kError };

/// Prints printable_lines() of TEXT immediately. Throws Error (kIo) if it cannot be written: a lost report is a
/// failure.
void print_report(std::string_view text, Channel channel = Channel::kOutput);
/// As print_report(), unescaped: TEXT is the program's own and may hold control sequences.
void print_trusted(const std::string& text);
/// JSON on a line, printable_json().
void print_json(const nlohmann::json& json);
void print_json(const nlohmann::ordered_json& json);
/// JSON that is text already.
void print_json(const std::string& json);

/// A string argument, escaped with printable(); numbers are unchanged.
template <typename Arg>
requires std::convertible_to<const Arg&, std::string> || std::same_as<Arg, std::string_view> std::string shown(
    const Arg& arg) {
  return printable(arg);
}
template <typename Arg>
requires std::is_arithmetic_v<Arg> Arg shown(Arg arg) { return arg; }

/// As fmt::print; each of ARGS is escaped by shown(), so that no name can end a line or control the terminal.
template <typename First, typename... Args>
void print_report(fmt::format_string<decltype(shown(std::declval<const std::remove_cvref_t<First>&>())),
                                     decltype(shown(std::declval<const std::remove_cvref_t<Args>&>()))...>
                      format,
                  const First& first, const Args&... args) {
  print_report(fmt::format(format, shown(first), shown(args)...));
}

/// A command's result: as JSON, what TO_JSON returns, or as the text of TO_TEXT on TEXT_CHANNEL.
template <typename ToJson, typename ToText>
void print_result(bool as_json, const ToJson& to_json, const ToText& to_text, Channel text_channel = Channel::kOutput) {
  if (as_json)
    print_json(to_json());
  else
    print_report(to_text(), text_channel);
}

/// Whether a file named PATH is written to standard output: "-", or another name of it, as /dev/stdout.
bool is_standard_output(const std::string& path);

/// Prints a note on standard error; write errors are ignored.
void print_aside(std::string_view text) noexcept;

/// Opens closed standard streams, so that no other file gets their descriptors; writes to them still fail. A closed
/// pipe and the file size limit become write errors instead of signals.
void keep_standard_streams() noexcept;

}  // namespace saccade::app
