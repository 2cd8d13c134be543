#pragma once

#include <random>

#include "ops/vision/mask_place.hpp"
#include "support/run_op.hpp"

namespace saccade::test {

/// Inputs of saccade.TraceMasks: grids of SHAPE, COUNT objects, a frame of WIDTH x HEIGHT with ATTRIBUTES.
struct MaskCase {
  Tensor grids;
  std::int32_t count = 0;
  int width = 0;
  int height = 0;
  AttributeList attributes;
  Tensor boxes = Tensor();  ///< omitted: masks may be anywhere

  PreprocessSpec spec() const {
    Attributes set;
    for (const auto& [key, value] : attributes) set.set(key, value);
    return preprocess_spec(set);
  }
  std::vector<Tensor> inputs() const {
    const auto geometry = geometry_of(place(spec(), width, height), width, height);
    return {grids, Tensor::of<std::int32_t>({1}, {count}), boxes,
            Tensor::of<float>({6}, std::span<const float>(geometry))};
  }
  std::vector<Tensor> run() const { return run_saccade_op("TraceMasks", inputs(), 5, attributes); }
};

/// The frame's position in a model's image of WIDTH x HEIGHT, and where masks may be.
inline AttributeList mask_attributes(std::int64_t width, std::int64_t height, const std::string& within = "image",
                                     const std::string& resize = "stretch", std::vector<std::int64_t> region = {},
                                     std::int64_t resize_to = 0) {
  return {{"width", width},   {"height", height},         {"within", within},
          {"resize", resize}, {"roi", std::move(region)}, {"resize_to", resize_to}};
}

/// Grids that alternate between smooth shapes and noise.
inline Tensor mask_grids(const Shape& shape, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> noise(-1, 1);
  Tensor grids(DType::kFloat32, shape);
  std::size_t i = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    const float x0 = noise(random);
    const float y0 = noise(random);
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x, ++i) {
        const float dx = 2 * static_cast<float>(x) / static_cast<float>(shape[2]) - 1 - x0;
        const float dy = 2 * static_cast<float>(y) / static_cast<float>(shape[1]) - 1 - y0;
        grids.data<float>()[i] = n % 3 == 2 ? noise(random) : 0.4F - dx * dx - dy * dy;
      }
  }
  return grids;
}

/// N boxes in a frame of WIDTH x HEIGHT, some across its edges, rows of six.
inline Tensor mask_boxes(std::int64_t n, int width, int height, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> low(-0.1F, 0.4F);
  std::uniform_real_distribution<float> high(0.5F, 1.1F);
  std::vector<float> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto w = static_cast<float>(width);
    const auto h = static_cast<float>(height);
    rows.insert(rows.end(), {low(random) * w, low(random) * h, high(random) * w, high(random) * h, 0.5F, 0});
  }
  return Tensor::of<float>({n, 6}, std::span<const float>(rows));
}

}  // namespace saccade::test
