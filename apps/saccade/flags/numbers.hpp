#pragma once

#include <charconv>
#include <cstdint>
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

/// Bytes: TEXT as a positive number with the unit K, M, G or T (1024, ...) or none, "512M"; nullopt if it is anything
/// else or more than 2^60.
inline std::optional<std::uint64_t> read_size(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  constexpr std::uint64_t kMost = 1ULL << 60;
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  if (unit != std::string_view::npos) text.remove_suffix(1);
  const std::uint64_t scale = unit == std::string_view::npos ? 1 : 1ULL << (10 * (unit + 1));
  const std::optional<std::uint64_t> count = read_number<std::uint64_t>(text);
  if (!count || *count == 0 || *count > kMost / scale) return {};
  return *count * scale;
}

}  // namespace saccade::app
