#pragma once

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace saccade {

/// JSON written into a reused buffer, so that sinks do not allocate.
using JsonBuffer = fmt::memory_buffer;

/// TEXT in quotes, with what printable() escapes as \uXXXX; bytes that are not UTF-8 become U+FFFD.
void append_json_string(JsonBuffer& out, std::string_view text);
/// VALUE in the shortest form that parses to the same number; null if it is not finite.
void append_json_number(JsonBuffer& out, float value);
void append_json_number(JsonBuffer& out, double value);
/// [VALUE,...], each as append_json_number writes it.
void append_json_numbers(JsonBuffer& out, std::span<const float> values);
void append_json_numbers(JsonBuffer& out, std::span<const double> values);

template <typename... Args>
void append(JsonBuffer& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

}  // namespace saccade
