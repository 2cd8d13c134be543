#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saccade/results.hpp"
#include "vision/grid.hpp"

namespace saccade {

/// Reads maps row by row, pixel for pixel what their at() gives, without working out every pixel's place again. Keeps
/// its memory between maps.
class MapRows {
 public:
  /// ROW[x] = MAP.at(x, Y); -1 everywhere for an empty map.
  void read(const ClassMap& map, int y, std::span<std::int32_t> row);
  /// ROW[x] = MAP.at(x, Y); NaN everywhere for an empty map.
  void read(const DepthMap& map, int y, std::span<float> row);

 private:
  struct Column {
    int cell = 0;  ///< that the pixel lies in; -1: the model did not look
    BetweenCells between;
  };
  void place_columns(const GridPlace& place, std::size_t width);

  GridPlace place_;
  std::vector<Column> columns_;
};

}  // namespace saccade
