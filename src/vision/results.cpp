#include "saccade/results.hpp"

#include <cmath>
#include <limits>

#include "base/enum_name.hpp"
#include "vision/grid.hpp"

namespace saccade {
// Ultralytics' order, so that its labels are written without conversion.
std::array<float, 8> OrientedBox::corners() const {
  const float right_x = std::cos(angle) * width / 2;
  const float right_y = std::sin(angle) * width / 2;
  const float down_x = -std::sin(angle) * height / 2;
  const float down_y = std::cos(angle) * height / 2;
  return {x + right_x + down_x, y + right_y + down_y, x + right_x - down_x, y + right_y - down_y,
          x - right_x - down_x, y - right_y - down_y, x - right_x + down_x, y - right_y + down_y};
}

int ClassMap::at(int x, int y) const {
  if (!is_whole(place, cells.size()) || !has_column(place, x) || !has_row(place, y)) return -1;
  const int column = cell_at(grid_x(place, x), place.columns);
  const int row = cell_at(grid_y(place, y), place.rows);
  return cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(place.columns) +
               static_cast<std::size_t>(column)];
}

float DepthMap::at(int x, int y) const {
  if (!is_whole(place, cells.size()) || !has_column(place, x) || !has_row(place, y))
    return std::numeric_limits<float>::quiet_NaN();
  const BetweenCells across = between_centres(grid_x(place, x), place.columns);
  const BetweenCells down = between_centres(grid_y(place, y), place.rows);
  const float* cell = cells.data() + static_cast<std::ptrdiff_t>(down.first) * place.columns + across.first;
  float value[2] = {mix(cell, 1, across.weight), 0};
  if (down.weight > 0) value[1] = mix(cell + place.columns, 1, across.weight);
  return mix(value, 1, down.weight);
}

std::string_view to_string(DepthKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"relative", "metric", "inverse"};
  return enum_name(kind, kNames);
}

std::string_view to_string(Fault fault) {
  constexpr std::array<std::string_view, kFaults> kNames = {"a NaN among the confidences",
                                                            "a confidence beyond 0..1",
                                                            "a NaN in a box",
                                                            "an infinite box",
                                                            "a box of negative size",
                                                            "a keypoint that is NaN or infinite",
                                                            "a NaN or an infinity in a mask",
                                                            "a NaN among the scores of a class map",
                                                            "a depth that is NaN or infinite",
                                                            "a pixel that is NaN or infinite",
                                                            "an embedding that is NaN, infinite or zero"};
  return enum_name(fault, kNames);
}

std::string to_string(Faults faults) {
  std::string text;
  for (std::size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (!faults.has(fault)) continue;
    if (!text.empty()) text += ", ";
    text += to_string(fault);
  }
  return text;
}

std::string_view to_string(Task task) {
  constexpr std::array<std::string_view, kTasks> kNames = {"detect", "classify", "segment", "pose", "obb",  "semantic",
                                                           "depth",  "upscale",  "embed",   "text", "track"};
  return enum_name(task, kNames);
}

}  // namespace saccade
