#include "flags/values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flags/numbers.hpp"

namespace saccade::app {
namespace {

// Each returns an error message, or nothing and the value in TEXT as CLI11 converts it.

std::string accept(const Integer& range, std::string& text) {
  const std::optional<std::uint64_t> value = read_number<std::uint64_t>(text);
  if (!value || *value < range.low || *value > range.high)
    return fmt::format("'{}' is not an integer from {} to {}", text, range.low, range.high);
  text = fmt::to_string(*value);  // CLI11 would parse leading zeros as octal
  return {};
}

std::string accept(const Real& range, std::string& text) {
  const std::optional<double> value = read_number<double>(text);
  const bool is_within = value && *value >= range.low && *value <= range.high;  // NaN is not
  return is_within ? std::string() : fmt::format("'{}' is not a number from {} to {}", text, range.low, range.high);
}

std::string accept(const PerModel& range, std::string& text) {
  const std::size_t at = text.rfind(':');
  std::string number = at == std::string::npos ? text : text.substr(at + 1);
  if (at != 0 && accept(Real{range.low, range.high}, number).empty()) return {};
  return fmt::format("'{}' is not a number from {} to {}, or MODEL:NUMBER", text, range.low, range.high);
}

std::string accept(const Size&, std::string& text) {
  const std::optional<std::uint64_t> bytes = read_size(text);
  if (!bytes) return fmt::format("'{}' is not a size such as 512M or 4G", text);
  text = fmt::to_string(*bytes);
  return {};
}

std::string accept(const Choice& choice, std::string& text) {
  if (std::ranges::find(choice.names, text) != choice.names.end()) return {};
  return fmt::format("'{}' is not known: use {}", text, fmt::join(choice.names, " or "));
}

std::string accept(const Assignment&, std::string& text) {
  const std::size_t at = text.rfind('=');
  const bool is_whole = at != std::string::npos && at != 0 && at + 1 != text.size();
  return is_whole ? std::string() : fmt::format("'{}' is not NAME=VALUE", text);
}

// What reads these says more about them than a parser of flags could.
std::string accept(const Path&, std::string&) { return {}; }
std::string accept(const Text&, std::string&) { return {}; }
std::string accept(const Switch&, std::string&) { return {}; }

}  // namespace

CLI::Validator validator_of(const Flag& flag) {
  return {[&flag](std::string& text) {
            return std::visit([&text](const auto& value) { return accept(value, text); }, flag.value);
          },
          ""};
}

}  // namespace saccade::app
