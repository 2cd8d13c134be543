#include "serve/trace_context.hpp"

#include <algorithm>

namespace saccade::serve {
namespace {

constexpr std::size_t kVersionDigits = 2;
constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr std::size_t kFlagDigits = 2;
constexpr std::size_t kLength = kVersionDigits + 1 + kTraceDigits + 1 + kSpanDigits + 1 + kFlagDigits;

bool are_digits(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }
bool is_zero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

/// The next DIGITS of TEXT and the hyphen behind them, which leave it; empty if it begins otherwise.
std::string_view take_field(std::string_view& text, std::size_t digits) {
  const std::string_view field = text.substr(0, digits);
  if (field.size() < digits || !are_digits(field)) return {};
  text.remove_prefix(digits);
  if (text.empty()) return field;
  if (text[0] != '-') return {};
  text.remove_prefix(1);
  return field;
}

}  // namespace

TraceContext parse_traceparent(std::string_view value) {
  if (value.size() < kLength) return {};
  std::string_view rest = value;
  const std::string_view version = take_field(rest, kVersionDigits);
  const std::string_view trace = take_field(rest, kTraceDigits);
  const std::string_view span = take_field(rest, kSpanDigits);
  const std::string_view flags = take_field(rest, kFlagDigits);
  // Later versions may have more fields.
  if (version == "ff" || (version == "00" && value.size() != kLength)) return {};
  if (version.empty() || trace.empty() || span.empty() || flags.empty() || is_zero(trace) || is_zero(span)) return {};
  return {std::string(trace), std::string(span)};
}

}  // namespace saccade::serve
