#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace saccade {

/// The name of VALUE, of which NAMES has one per enumerator in their order; "unknown" for other values.
template <typename Enum, std::size_t Count>
constexpr std::string_view enum_name(Enum value, const std::array<std::string_view, Count>& names) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < Count ? names[index] : std::string_view("unknown");
}

}  // namespace saccade
