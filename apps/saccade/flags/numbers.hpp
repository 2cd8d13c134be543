#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace saccade::app {

/// TEXT as a decimal number ("010" is 10), negative with a leading '-'; nullopt if it is anything else or out of T's
/// range. All numbers of the command line are parsed here: CLI11 would parse "010" as octal, and -1 as the largest
/// unsigned number.
template <typename T>
std::optional<T> read_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace saccade::app
