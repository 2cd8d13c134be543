#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

constexpr Tactics kResize{.cpu = "vector.resize", .cuda = "resize"};
constexpr Tolerances kClose{.cpu = {.absolute = 1e-5, .relative = 1e-5}, .cuda = {.absolute = 2e-4, .relative = 1e-5}};

Tensor scales(float height, float width) { return Tensor::of<float>({4}, {1, 1, height, width}); }

struct Mode {
  const char* mode;
  const char* coordinates;
};

constexpr Mode kModes[] = {{"nearest", "asymmetric"},   {"nearest", "half_pixel"},        {"linear", "half_pixel"},
                           {"linear", "align_corners"}, {"linear", "pytorch_half_pixel"}, {"linear", "asymmetric"},
                           {"cubic", "half_pixel"}};

/// Images of SHAPE, resized by SCALES.
OpCase resize(DType dtype, const Shape& shape, std::vector<float> scales, const std::string& mode,
              const std::string& transform) {
  OpCase made("Resize");
  made.input(dtype, shape, -50, 50).absent();
  made.constant(Tensor::of<float>({static_cast<std::int64_t>(scales.size())}, scales));
  made.attribute("mode", mode).attribute("coordinate_transformation_mode", transform);
  return made;
}

constexpr Tolerance kLinear{.absolute = 2e-4, .relative = 1e-5};

SACCADE_EVERY_BACKEND(Resize);

TEST_P(Resize, GrowsAndShrinksInBothLayouts) {
  for (const auto& [mode, coordinates] : kModes)
    for (const auto& [height, width] : {std::pair{2.0F, 2.0F}, {1.5F, 2.3F}, {0.5F, 0.7F}, {1.0F, 3.0F}})
      OpCase("Resize")
          .input({2, 19, 9, 11})
          .absent()
          .constant(scales(height, width))
          .attribute("mode", mode)
          .attribute("coordinate_transformation_mode", coordinates)
          .check_layouts(by(kResize), within(kClose));
}

TEST_P(Resize, ToASize) {
  OpCase("Resize")
      .input({1, 3, 10, 10})
      .absent()
      .absent()
      .constant(Tensor::of<std::int64_t>({4}, {1, 3, 17, 4}))
      .attribute("mode", "linear")
      .post("Relu")
      .check_layouts(by(kResize), within(kClose));
}

TEST_P(Resize, TakesTheNearest) {
  resize(DType::kFloat32, {2, 3, 4, 5}, {1, 1, 2, 2}, "nearest", "asymmetric")
      .attribute("nearest_mode", std::string("floor"))
      .check_layouts(by("", "resize"));
  resize(DType::kUInt8, {1, 2, 7, 5}, {1, 1, 0.6F, 1.7F}, "nearest", "half_pixel").check_layouts(by("", "resize"));
}

TEST_P(Resize, InterpolatesLinearly) {
  for (const char* transform : {"half_pixel", "align_corners", "pytorch_half_pixel"})
    resize(DType::kFloat32, {2, 3, 4, 5}, {1, 1, 2, 2.5F}, "linear", transform)
        .check_layouts(by("", "resize"), kLinear);
  resize(DType::kFloat32, {1, 2, 9, 8}, {1, 1, 0.4F, 0.5F}, "linear", "half_pixel")
      .attribute("antialias", std::int64_t{1})
      .post("Relu")
      .check_layouts(by("", "resize"), kLinear);
  resize(DType::kFloat16, {1, 4, 4, 5}, {1, 1, 2, 2}, "linear", "half_pixel")
      .check_layouts(by("", "resize"), {0.05, 2e-3});
  resize(DType::kFloat32, {2, 3, 8}, {1, 1, 3}, "linear", "half_pixel").check(by("", "resize"), kLinear);
}

TEST_P(Resize, InterpolatesByCubics) {
  resize(DType::kFloat32, {1, 2, 5, 6}, {1, 1, 1.8F, 2}, "cubic", "half_pixel")
      .check_layouts(by("", "resize"), kLinear);
  resize(DType::kInt8, {1, 1, 5, 6}, {1, 1, 1.5F, 2}, "cubic", "asymmetric")
      .attribute("exclude_outside", std::int64_t{1})
      .check(by("", "resize"), {1, 0});
}

TEST_P(Resize, TakesVectorsOfChannels) {
  const auto check = [](const OpCase& made, Tolerance tolerance = kLinear) {
    made.check(by("", "channels.resize"), tolerance, Layout::kChannelsLast);
  };
  check(resize(DType::kFloat32, {2, 4, 3, 5}, {1, 1, 2, 2.5F}, "linear", "half_pixel"));
  check(resize(DType::kFloat32, {1, 6, 5, 4}, {1, 1, 1.8F, 2}, "cubic", "align_corners"));
  check(resize(DType::kFloat32, {2, 8, 6, 5}, {1, 1, 1, 1.6F}, "linear", "asymmetric").post("Relu"));
  check(resize(DType::kFloat16, {2, 8, 4, 5}, {1, 1, 2, 2}, "nearest", "asymmetric"), {0, 0});
  check(resize(DType::kFloat16, {1, 16, 7, 5}, {1, 1, 0.6F, 1.7F}, "linear", "align_corners"), {0.05, 2e-3});
  check(resize(DType::kBFloat16, {1, 24, 7, 3}, {1, 1, 2, 3}, "linear", "half_pixel").post("Relu"), {0.4, 0.02});
}

TEST_P(Resize, CropsAndResizes) {
  OpCase("Resize")
      .input({1, 1, 6, 7})
      .constant(Tensor::of<float>({8}, {0, 0, 0.2F, -0.3F, 1, 1, 1.4F, 0.9F}))
      .absent()
      .constant(Tensor::of<std::int64_t>({4}, {1, 1, 5, 6}))
      .attribute("mode", std::string("linear"))
      .attribute("coordinate_transformation_mode", std::string("tf_crop_and_resize"))
      .attribute("extrapolation_value", 7.5F)
      .check_layouts(by("", "resize"), kLinear);
}

}  // namespace
}  // namespace saccade
