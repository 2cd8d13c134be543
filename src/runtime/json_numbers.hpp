#pragma once

#include <climits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"
#include "saccade/tensor.hpp"

// Numbers from the JSON of a plan's header. All throw Error (kInvalidFile) on what the writer would not write.
namespace saccade {

/// An integer in the range of int; the library would cast others silently.
inline int int_from(const nlohmann::json& json) {
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<std::uint64_t>() > INT_MAX) ||
      json.get<std::int64_t>() < INT_MIN)
    fail(ErrorCode::kInvalidFile, "a small integer is expected, not {}", json.dump());
  return json.get<int>();
}

template <typename T>
std::vector<T> integers_from(const nlohmann::json& json) {
  for (const nlohmann::json& number : json)
    if (!number.is_number_integer()) fail(ErrorCode::kInvalidFile, "an integer is expected, not {}", number.dump());
  return json.get<std::vector<T>>();
}

template <typename Enum>
Enum enum_from(const nlohmann::json& json, Enum last) {
  const int value = int_from(json);
  if (value < 0 || value > static_cast<int>(last)) fail(ErrorCode::kInvalidFile, "{} is not a valid value", value);
  return static_cast<Enum>(value);
}

inline Shape shape_from(const nlohmann::json& json) { return Shape(integers_from<std::int64_t>(json)); }

inline nlohmann::json shape_json(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }

}  // namespace saccade
