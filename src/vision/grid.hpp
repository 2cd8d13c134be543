#pragma once

#include <algorithm>
#include <cmath>

#include "saccade/results.hpp"

namespace saccade {

/// Where a model's grid lies on a frame, along one axis and for each cell or between two of them: what ClassMap::at,
/// DepthMap::at and MapRows share.

/// The cell at POSITION on an axis of CELLS; what rounding moved over the grid's edge stays on it.
inline int cell_at(double position, int cells) {
  return static_cast<int>(std::clamp(std::floor(position), 0.0, static_cast<double>(cells - 1)));
}

/// Between which two cells' centres a position lies: the first, and the second's share.
struct BetweenCells {
  int first = 0;
  float share = 0;
};

inline BetweenCells between_centres(double position, int cells) {
  const double centre = std::clamp(position - 0.5, 0.0, static_cast<double>(cells - 1));
  const int first = static_cast<int>(centre);
  return {first, static_cast<float>(centre - first)};
}

/// A neighbour that has no share is not asked: it may be no number, or lie beyond the last cell.
inline float mix(const float* first, std::ptrdiff_t step, float share) {
  return share > 0 ? first[0] * (1 - share) + first[step] * share : first[0];
}

inline bool has_column(const GridPlace& place, int x) {
  return x >= place.seen.x && x - place.seen.x < place.seen.width;
}

inline bool has_row(const GridPlace& place, int y) { return y >= place.seen.y && y - place.seen.y < place.seen.height; }

inline double grid_x(const GridPlace& place, int x) { return (x + 0.5) * place.scale_x + place.offset_x; }
inline double grid_y(const GridPlace& place, int y) { return (y + 0.5) * place.scale_y + place.offset_y; }

/// Whether a map of this PLACE has CELLS enough to be read.
inline bool is_whole(const GridPlace& place, std::size_t cells) {
  return place.columns > 0 && place.rows > 0 &&
         cells >= static_cast<std::size_t>(place.columns) * static_cast<std::size_t>(place.rows);
}

}  // namespace saccade
