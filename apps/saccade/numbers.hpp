#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

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

/// For ->transform(): accepts integers from LOW to HIGH and removes leading zeros, which CLI11 would parse as octal.
template <typename T>
CLI::Validator whole(T low, T high = std::numeric_limits<T>::max()) {
  return {[low, high](std::string& text) {
            const std::optional<T> value = read_number<T>(text);
            if (!value || *value < low || *value > high)
              return fmt::format("'{}' is not an integer from {} to {}", text, low, high);
            text = fmt::to_string(*value);
            return std::string();
          },
          ""};
}

/// For ->check(): accepts decimal numbers from LOW to HIGH. Rejects NaN, which CLI::Range would accept.
CLI::Validator number(double low, double high);

}  // namespace saccade::app
