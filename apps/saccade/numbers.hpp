#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace saccade::app {

/// The whole of TEXT as a number in decimal digits ("010" is 10), with a '-' in front where it lies below 0; nothing
/// where it is anything else or T can't hold it. Numbers of a command line are read here alone: CLI11's own reading
/// takes "010" for 8, and -1 for the largest number that has no sign.
template <typename T>
std::optional<T> read_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// For ->transform(): refuses what is not a whole number from LOW to HIGH, and leaves one without zeros in front, which
/// CLI11 would take for an octal number.
template <typename T>
CLI::Validator whole(T low, T high = std::numeric_limits<T>::max()) {
  return {[low, high](std::string& text) {
            const std::optional<T> value = read_number<T>(text);
            if (!value || *value < low || *value > high)
              return fmt::format("'{}' is not a whole number from {} to {}", text, low, high);
            text = fmt::to_string(*value);
            return std::string();
          },
          ""};
}

/// For ->check(): refuses what is not a decimal number from LOW to HIGH; a NaN, too, which CLI::Range would let
/// through.
CLI::Validator number(double low, double high);

}  // namespace saccade::app
