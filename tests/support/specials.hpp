#pragma once

#include <limits>

// The values of a float that are no numbers of ordinary size.
namespace saccade {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace saccade
