#include "op_case/op_case.hpp"

namespace saccade {
namespace {

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

TEST(CudaResize, TakesTheNearest) {
  resize(DType::kFloat32, {2, 3, 4, 5}, {1, 1, 2, 2}, "nearest", "asymmetric")
      .attribute("nearest_mode", std::string("floor"))
      .check_layouts(on_cuda("resize"));
  resize(DType::kUInt8, {1, 2, 7, 5}, {1, 1, 0.6F, 1.7F}, "nearest", "half_pixel").check_layouts(on_cuda("resize"));
}

TEST(CudaResize, InterpolatesLinearly) {
  for (const char* transform : {"half_pixel", "align_corners", "pytorch_half_pixel"})
    resize(DType::kFloat32, {2, 3, 4, 5}, {1, 1, 2, 2.5F}, "linear", transform)
        .check_layouts(on_cuda("resize"), kLinear);
  resize(DType::kFloat32, {1, 2, 9, 8}, {1, 1, 0.4F, 0.5F}, "linear", "half_pixel")
      .attribute("antialias", std::int64_t{1})
      .post("Relu")
      .check_layouts(on_cuda("resize"), kLinear);
  resize(DType::kFloat16, {1, 4, 4, 5}, {1, 1, 2, 2}, "linear", "half_pixel")
      .check_layouts(on_cuda("resize"), {0.05, 2e-3});
  resize(DType::kFloat32, {2, 3, 8}, {1, 1, 3}, "linear", "half_pixel").check(on_cuda("resize"), kLinear);
}

TEST(CudaResize, InterpolatesByCubics) {
  resize(DType::kFloat32, {1, 2, 5, 6}, {1, 1, 1.8F, 2}, "cubic", "half_pixel")
      .check_layouts(on_cuda("resize"), kLinear);
  resize(DType::kInt8, {1, 1, 5, 6}, {1, 1, 1.5F, 2}, "cubic", "asymmetric")
      .attribute("exclude_outside", std::int64_t{1})
      .check(on_cuda("resize"), {1, 0});
}

TEST(CudaResize, TakesVectorsOfChannels) {
  const auto check = [](const OpCase& made, Tolerance tolerance = kLinear) {
    made.check(on_cuda("channels.resize"), tolerance, Layout::kChannelsLast);
  };
  check(resize(DType::kFloat32, {2, 4, 3, 5}, {1, 1, 2, 2.5F}, "linear", "half_pixel"));
  check(resize(DType::kFloat32, {1, 6, 5, 4}, {1, 1, 1.8F, 2}, "cubic", "align_corners"));
  check(resize(DType::kFloat32, {2, 8, 6, 5}, {1, 1, 1, 1.6F}, "linear", "asymmetric").post("Relu"));
  check(resize(DType::kFloat16, {2, 8, 4, 5}, {1, 1, 2, 2}, "nearest", "asymmetric"), {0, 0});
  check(resize(DType::kFloat16, {1, 16, 7, 5}, {1, 1, 0.6F, 1.7F}, "linear", "align_corners"), {0.05, 2e-3});
  check(resize(DType::kBFloat16, {1, 24, 7, 3}, {1, 1, 2, 3}, "linear", "half_pixel").post("Relu"), {0.4, 0.02});
}

TEST(CudaResize, CropsAndResizes) {
  OpCase("Resize")
      .input({1, 1, 6, 7})
      .constant(Tensor::of<float>({8}, {0, 0, 0.2F, -0.3F, 1, 1, 1.4F, 0.9F}))
      .absent()
      .constant(Tensor::of<std::int64_t>({4}, {1, 1, 5, 6}))
      .attribute("mode", std::string("linear"))
      .attribute("coordinate_transformation_mode", std::string("tf_crop_and_resize"))
      .attribute("extrapolation_value", 7.5F)
      .check_layouts(on_cuda("resize"), kLinear);
}

}  // namespace
}  // namespace saccade
