#pragma once

#include <algorithm>
#include <array>

#include "saccade/results.hpp"

namespace saccade {

/// The axis-aligned box around BOX, cut at the borders of a frame of WIDTH x HEIGHT pixels.
inline std::array<float, 4> bounds_of(const OrientedBox& box, int width, int height) {
  const std::array<float, 8> at = box.corners();
  const auto limit = [](float value, int most) { return std::clamp(value, 0.0F, static_cast<float>(most)); };
  return {limit(std::min({at[0], at[2], at[4], at[6]}), width), limit(std::min({at[1], at[3], at[5], at[7]}), height),
          limit(std::max({at[0], at[2], at[4], at[6]}), width), limit(std::max({at[1], at[3], at[5], at[7]}), height)};
}

}  // namespace saccade
