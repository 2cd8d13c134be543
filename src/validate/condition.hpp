#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tensor/frame.hpp"

namespace saccade {

/// An image degradation of fixed strength. It is deterministic.
struct Condition {
  std::string_view name;      ///< "night"
  std::string_view strength;  ///< description for reports
  /// SEED depends on the image.
  void (*apply)(const RgbView& image, std::uint64_t seed);
};

/// night, blur, noise, jpeg, low-contrast, rain.
std::span<const Condition> conditions();

/// By name. Throws Error (kInvalidArgument) with the known names.
const Condition& find_condition(const std::string& name);

}  // namespace saccade
