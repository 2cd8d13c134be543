#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saccade/results.hpp"
#include "vision/grid.hpp"

namespace saccade {

/// Reads maps row by row, with the same values as at() but without computing every pixel's cell again. Reuses its
/// memory.
class MapRows {
 public:
  /// ROW[x] = MAP.at(x, Y); -1 everywhere for an empty map.
  void read(const ClassMap& map, int y, std::span<std::int32_t> row);
  /// ROW[x] = MAP.at(x, Y); NaN everywhere for an empty map.
  void read(const DepthMap& map, int y, std::span<float> row);

 private:
  struct Column {
    int cell = 0;  ///< the pixel's cell; -1: outside of the model's view
    BetweenCells between;
  };
  void place_columns(const GridPlace& place, std::size_t width);

  GridPlace place_;
  std::vector<Column> columns_;
};

}  // namespace saccade
