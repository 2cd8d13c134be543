#include "terminal_style.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace saccade::app {
namespace {

ColorMode color_mode = ColorMode::kAuto;  // NOLINT: one terminal per process

void set_color_mode(std::string_view name) {
  if (name == "auto") color_mode = ColorMode::kAuto;
  if (name == "always") color_mode = ColorMode::kAlways;
  if (name == "never") color_mode = ColorMode::kNever;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::string styled(bool is_on, std::string_view codes, std::string_view text) {
  return is_on ? fmt::format("\033[{}m{}\033[0m", codes, text) : std::string(text);
}

}  // namespace

void choose_color(const std::vector<std::string>& arguments) {
  constexpr std::string_view kFlag = "--color";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") return;  // positional arguments follow
    if (argument == kFlag && i + 1 < arguments.size()) set_color_mode(arguments[i + 1]);
    if (argument.starts_with(kFlag) && argument.substr(kFlag.size()).starts_with('='))
      set_color_mode(argument.substr(kFlag.size() + 1));
  }
}

bool is_colored(int stream) {
  if (color_mode != ColorMode::kAuto) return color_mode == ColorMode::kAlways;
  return variable("NO_COLOR").empty() && variable("TERM") != "dumb" && isatty(stream) == 1;
}

std::string TerminalStyle::heading(std::string_view text) const { return styled(is_on, "1", text); }
std::string TerminalStyle::name(std::string_view text) const { return styled(is_on, "36", text); }
std::string TerminalStyle::error(std::string_view text) const { return styled(is_on, "1;31", text); }

}  // namespace saccade::app
