#pragma once

#include <array>

#include "saccade/results.hpp"

namespace saccade {

/// Intersection over the smaller of two boxes x1, y1, x2, y2 (IoS), 0 to 1; 0 for disjoint and empty boxes.
float intersection_over_smaller(const std::array<float, 4>& a, const std::array<float, 4>& b);
/// The same for oriented boxes.
float intersection_over_smaller(const OrientedBox& a, const OrientedBox& b);

/// The smallest box with the angle of A around both.
OrientedBox enclosing(const OrientedBox& a, const OrientedBox& b);

}  // namespace saccade
