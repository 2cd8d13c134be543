#include "ops/vision/box_cells.hpp"

#include <cmath>
#include <cstdint>

namespace saccade {
namespace {

CellRange touched(float low, float high, float scale, float offset, std::int64_t size, std::int64_t pixels) {
  const float cells_a_pixel = static_cast<float>(size) / static_cast<float>(pixels);
  const auto cell = [&](float edge, float margin) {
    const float at = std::floor((edge * scale + offset) * cells_a_pixel) + margin;
    if (!(at > 0)) return std::size_t{0};
    return static_cast<std::size_t>(at < static_cast<float>(size) ? static_cast<std::int64_t>(at) : size);
  };
  return {cell(low, -1), cell(high, 2)};
}

}  // namespace

BoxCells box_cells(const Shape& prototypes, const Attributes& attributes, std::span<const float> geometry,
                   const float* box) {
  return {touched(box[0], box[2], geometry[0], geometry[2], prototypes[3], attributes.integer("width", 0)),
          touched(box[1], box[3], geometry[1], geometry[3], prototypes[2], attributes.integer("height", 0))};
}

}  // namespace saccade
