#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tensor/frame.hpp"

namespace saccade {

/// A way to make images worse, of one fixed strength. The same image comes out the same each time.
struct Condition {
  std::string_view name;      ///< "night"
  std::string_view strength;  ///< what it does, for people
  /// SEED is the image's.
  void (*apply)(const RgbView& picture, std::uint64_t seed);
};

/// night, blur, noise, jpeg, low-contrast, rain.
std::span<const Condition> conditions();

/// By name. Throws Error (kInvalidArgument) naming those that there are.
const Condition& find_condition(const std::string& name);

}  // namespace saccade
