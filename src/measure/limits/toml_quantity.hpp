#pragma once

#include "base/toml_section.hpp"
#include "measure/statistics/quantity.hpp"

namespace saccade {

enum class BareNumber : bool {
  kAccepted,
  kRefused,  ///< a person might mean milliseconds
};

/// The value of KEY: a number in operations, bytes and seconds, or a text with a unit.
inline std::optional<double> quantity(TomlSection& section, std::string_view key, Unit unit,
                                      BareNumber bare = BareNumber::kAccepted) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return std::nullopt;
  double value = -1;
  if (node->is_number() && bare == BareNumber::kRefused)
    section.bad(node->source(), key, "must have a unit, as \"16 ms\"");
  if (node->is_number()) {
    value = node->value<double>().value_or(-1);
  } else if (const auto said = node->value_exact<std::string>()) {
    try {
      value = parse_quantity(*said, unit);
    } catch (const Error& error) {
      section.bad(node->source(), key, fmt::format("is invalid: {}", error.what()));
    }
  }
  if (!(value > 0)) section.bad(node->source(), key, "must be a number above 0, or a string with a unit");
  return value;
}

inline double needed_quantity(TomlSection& section, std::string_view key, Unit unit) {
  const auto value = quantity(section, key, unit);
  if (!value) section.bad(section.source(), key, "is missing");
  return *value;
}

}  // namespace saccade
