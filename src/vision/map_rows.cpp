#include "vision/map_rows.hpp"

#include <algorithm>
#include <limits>

namespace saccade {
namespace {

bool have_same_columns(const GridPlace& a, const GridPlace& b) {
  return a.columns == b.columns && a.scale_x == b.scale_x && a.offset_x == b.offset_x && a.seen.x == b.seen.x &&
         a.seen.width == b.seen.width;
}

}  // namespace

void MapRows::place_columns(const GridPlace& place, std::size_t width) {
  if (columns_.size() == width && have_same_columns(place_, place)) return;
  place_ = place;
  columns_.resize(width);
  for (int x = 0; x < static_cast<int>(width); ++x) {
    const double position = grid_x(place, x);
    columns_[static_cast<std::size_t>(x)] = {has_column(place, x) ? cell_at(position, place.columns) : -1,
                                             between_centres(position, place.columns)};
  }
}

void MapRows::read(const ClassMap& map, int y, std::span<std::int32_t> row) {
  if (!is_whole(map.place, map.cells.size()) || !has_row(map.place, y)) {
    std::ranges::fill(row, -1);
    return;
  }
  place_columns(map.place, row.size());
  const int line = cell_at(grid_y(map.place, y), map.place.rows);
  const std::int32_t* cells = map.cells.data() + static_cast<std::ptrdiff_t>(line) * map.place.columns;
  for (std::size_t x = 0; x < row.size(); ++x) row[x] = columns_[x].cell >= 0 ? cells[columns_[x].cell] : -1;
}

void MapRows::read(const DepthMap& map, int y, std::span<float> row) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  if (!is_whole(map.place, map.cells.size()) || !has_row(map.place, y)) {
    std::ranges::fill(row, kNone);
    return;
  }
  place_columns(map.place, row.size());
  const BetweenCells down = between_centres(grid_y(map.place, y), map.place.rows);
  const std::ptrdiff_t pitch = map.place.columns;
  for (std::size_t x = 0; x < row.size(); ++x) {
    const BetweenCells across = columns_[x].between;
    const float* cell = map.cells.data() + down.first * pitch + across.first;
    float value[2] = {mix(cell, 1, across.weight), 0};
    if (down.weight > 0) value[1] = mix(cell + pitch, 1, across.weight);
    row[x] = columns_[x].cell >= 0 ? mix(value, 1, down.weight) : kNone;
  }
}

}  // namespace saccade
