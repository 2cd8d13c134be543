#pragma once

#include <algorithm>
#include <cmath>

#include "saccade/results.hpp"

namespace saccade {

// Sampling of a model's grid at frame pixels, along one axis, by nearest cell or linear interpolation: common to
// ClassMap::at, DepthMap::at and MapRows.

/// The cell at POSITION on an axis of CELLS, clamped to the grid.
inline int cell_at(double position, int cells) {
  return static_cast<int>(std::clamp(std::floor(position), 0.0, static_cast<double>(cells - 1)));
}

/// A position between two cell centres: the first cell, and the weight of the second.
struct BetweenCells {
  int first = 0;
  float weight = 0;
};

inline BetweenCells between_centres(double position, int cells) {
  const double centre = std::clamp(position - 0.5, 0.0, static_cast<double>(cells - 1));
  const int first = static_cast<int>(centre);
  return {first, static_cast<float>(centre - first)};
}

/// Linear interpolation. A neighbour of weight 0 is not read: it may be NaN, or beyond the last cell.
inline float mix(const float* first, std::ptrdiff_t step, float weight) {
  return weight > 0 ? first[0] * (1 - weight) + first[step] * weight : first[0];
}

inline bool has_column(const GridPlace& place, int x) {
  return x >= place.seen.x && x - place.seen.x < place.seen.width;
}

inline bool has_row(const GridPlace& place, int y) { return y >= place.seen.y && y - place.seen.y < place.seen.height; }

inline double grid_x(const GridPlace& place, int x) { return (x + 0.5) * place.scale_x + place.offset_x; }
inline double grid_y(const GridPlace& place, int y) { return (y + 0.5) * place.scale_y + place.offset_y; }

/// Whether CELLS are enough for a map with this PLACE.
inline bool is_whole(const GridPlace& place, std::size_t cells) {
  return place.columns > 0 && place.rows > 0 &&
         cells >= static_cast<std::size_t>(place.columns) * static_cast<std::size_t>(place.rows);
}

}  // namespace saccade
