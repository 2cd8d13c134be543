#include "saccade/results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saccade {
namespace {

bool holds(const Region& region, int x, int y) {
  return x >= region.x && y >= region.y && x - region.x < region.width && y - region.y < region.height;
}

bool covers(const GridPlace& place, std::size_t cells, int x, int y) {
  return place.columns > 0 && place.rows > 0 &&
         cells >= static_cast<std::size_t>(place.columns) * static_cast<std::size_t>(place.rows) &&
         holds(place.seen, x, y);
}

/// The cell at POSITION; what rounding moved over the grid's edge stays on it.
int cell_at(double position, int cells) {
  return static_cast<int>(std::clamp(std::floor(position), 0.0, static_cast<double>(cells - 1)));
}

/// Between which two cells' centres a position lies: the first, and the second's share.
struct Between {
  int first = 0;
  float share = 0;
};

Between between_centres(double position, int cells) {
  const double centre = std::clamp(position - 0.5, 0.0, static_cast<double>(cells - 1));
  const int first = static_cast<int>(centre);
  return {first, static_cast<float>(centre - first)};
}

float mix(float first, float second, float share) { return first * (1 - share) + second * share; }

}  // namespace

// Ultralytics' order, so that labels for it can be written as they are.
std::array<float, 8> OrientedBox::corners() const {
  const float right_x = std::cos(angle) * width / 2;
  const float right_y = std::sin(angle) * width / 2;
  const float down_x = -std::sin(angle) * height / 2;
  const float down_y = std::cos(angle) * height / 2;
  return {x + right_x + down_x, y + right_y + down_y, x + right_x - down_x, y + right_y - down_y,
          x - right_x - down_x, y - right_y - down_y, x - right_x + down_x, y - right_y + down_y};
}

int ClassMap::at(int x, int y) const {
  if (!covers(place, cells.size(), x, y)) return -1;
  const int column = cell_at((x + 0.5) * place.scale_x + place.offset_x, place.columns);
  const int row = cell_at((y + 0.5) * place.scale_y + place.offset_y, place.rows);
  return cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(place.columns) +
               static_cast<std::size_t>(column)];
}

float DepthMap::at(int x, int y) const {
  if (!covers(place, cells.size(), x, y)) return std::numeric_limits<float>::quiet_NaN();
  const Between across = between_centres((x + 0.5) * place.scale_x + place.offset_x, place.columns);
  const Between down = between_centres((y + 0.5) * place.scale_y + place.offset_y, place.rows);
  const auto row_at = [&](int row) {
    const float* cell = cells.data() + static_cast<std::ptrdiff_t>(row) * place.columns + across.first;
    // A neighbour that has no share is not asked: it may be no number, or lie beyond the last column.
    return across.share > 0 ? mix(cell[0], cell[1], across.share) : cell[0];
  };
  return down.share > 0 ? mix(row_at(down.first), row_at(down.first + 1), down.share) : row_at(down.first);
}

std::string_view to_string(DepthKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"relative", "metric", "inverse"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Task task) {
  constexpr std::array<std::string_view, kTasks> kNames = {"detect", "classify", "segment", "pose",
                                                           "obb",    "semantic", "depth",   "upscale"};
  return kNames[static_cast<std::size_t>(task)];
}

}  // namespace saccade
