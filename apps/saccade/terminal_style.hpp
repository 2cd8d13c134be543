#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace saccade::app {

/// Whether text on a stream is coloured.
enum class ColorMode { kAuto, kAlways, kNever };

/// Sets the mode from `--color` in ARGUMENTS, before they are parsed: the parser's own errors are coloured. An invalid
/// value is left to the parser. Not thread-safe.
void choose_color(const std::vector<std::string>& arguments);

/// Whether text on the file descriptor STREAM is coloured. By default it is if the stream is a terminal, TERM is not
/// "dumb" and NO_COLOR is unset or empty.
bool is_colored(int stream);

/// Wraps trusted text in the control sequences of a terminal; unchanged without colour.
struct TerminalStyle {
  bool is_on = false;

  std::string heading(std::string_view text) const;
  std::string name(std::string_view text) const;
  std::string error(std::string_view text) const;
};

}  // namespace saccade::app
