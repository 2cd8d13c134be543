#include <limits>

#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

constexpr Tactics kRoiAlign{.cpu = "vector.roi_align", .cuda = "roi_align"};
constexpr Tactics kGridSample{.cpu = "vector.grid_sample", .cuda = "grid_sample"};
constexpr Tolerances kBilinear{.cpu = {.absolute = 1e-5, .relative = 1e-5},
                               .cuda = {.absolute = 1e-4, .relative = 1e-4}};
constexpr Tolerances kClose{.cpu = {.absolute = 2e-5, .relative = 2e-5}, .cuda = {.absolute = 1e-4, .relative = 1e-4}};

// Within the map, over its borders, turned around, empty, and far away.
Tensor regions() {
  return Tensor::of<float>({6, 4},
                           {2, 1, 9, 7, -3, -2, 5, 30, 7, 6, 3, 2, 4, 4, 4, 4, 0, 0, 20, 16, 1e6F, 1e6F, 2e6F, 2e6F});
}

Tensor images() { return Tensor::of<std::int64_t>({6}, {0, 1, 1, -2, 0, 1}); }

OpCase roi_align(std::int64_t samples, const char* coordinates) {
  return OpCase("RoiAlign")
      .input({2, 19, 13, 17})
      .input(regions())
      .input(images())
      .attribute("output_height", std::int64_t{3})
      .attribute("output_width", std::int64_t{5})
      .attribute("sampling_ratio", samples)
      .attribute("spatial_scale", 0.75F)
      .attribute("coordinate_transformation_mode", coordinates);
}

constexpr Tolerance kSampled{.absolute = 1e-4, .relative = 1e-4};

OpCase roi_align(const char* mode, std::int64_t samples) {
  OpCase made("RoiAlign");
  made.input({2, 3, 12, 10});
  made.input(Tensor::of<float>({4, 4}, {1, 2, 9, 8, 0, 0, 20, 22, -3, 5, 4, 5.5F, 6, 6, 5, 5}));
  made.input(Tensor::of<std::int64_t>({4}, {0, 1, 1, 0}));
  made.attribute("mode", std::string(mode)).attribute("sampling_ratio", samples);
  made.attribute("output_height", std::int64_t{3}).attribute("output_width", std::int64_t{4});
  return made;
}

SACCADE_EVERY_BACKEND(GridSample);
SACCADE_EVERY_BACKEND(RoiAlign);

TEST_P(GridSample, BilinearWithZerosAround) {
  for (std::int64_t align : {0, 1})
    OpCase("GridSample")
        .input({2, 19, 7, 9})
        .input({2, 5, 6, 2}, -1.3F, 1.3F)
        .attribute("mode", "linear")
        .attribute("align_corners", align)
        .check_layouts(by(kGridSample), within(kBilinear));
}

TEST_P(GridSample, FarAwayAndNotANumberAreZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpCase("GridSample")
      .input({1, 3, 4, 4})
      .input(Tensor::of<float>({1, 1, 3, 2}, {nan, 0, 1e30F, -1e30F, 0, 0}))
      .check_layouts(by(kGridSample), within(kBilinear));
}

TEST_P(RoiAlign, AveragesInBothLayouts) {
  for (std::int64_t samples : {0, 1, 2, 9})
    for (const char* coordinates : {"half_pixel", "output_half_pixel"})
      roi_align(samples, coordinates).check_layouts(by(kRoiAlign), within(kClose));
}

TEST_P(RoiAlign, OfNoRegionsAndWithAnActivation) {
  OpCase("RoiAlign")
      .input({1, 4, 5, 5})
      .input(Tensor(DType::kFloat32, {0, 4}))
      .input(Tensor(DType::kInt64, {0}))
      .check_layouts(by(kRoiAlign), within(kClose));
  roi_align(2, "half_pixel").post("Relu").check_layouts(by(kRoiAlign), within(kClose));
}

TEST_P(GridSample, SamplesInEveryMode) {
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      OpCase("GridSample")
          .input({2, 3, 6, 5})
          .input({2, 4, 7, 2}, -1.4F, 1.4F)
          .attribute("mode", std::string(mode))
          .attribute("padding_mode", std::string(padding))
          .attribute("align_corners", std::int64_t{padding[0] == 'b' ? 1 : 0})
          .check_layouts(by("", "grid_sample"), kSampled);
}

TEST_P(GridSample, SamplesVolumesAndOtherTypes) {
  OpCase("GridSample")
      .input({1, 2, 4, 5, 6})
      .input({1, 2, 3, 4, 3}, -1, 1)
      .post("Relu")
      .check(by("", "grid_sample"), kSampled);
  OpCase("GridSample")
      .input(DType::kUInt8, {1, 2, 5, 5}, 0, 255)
      .input({1, 3, 3, 2}, -1, 1)
      .check(by("", "grid_sample"), {1, 0});
  OpCase("GridSample")
      .input(DType::kFloat16, {1, 2, 5, 5})
      .input({1, 3, 3, 2}, -1, 1)
      .check(by("", "grid_sample"), {2e-3, 2e-3});
}

TEST_P(RoiAlign, AlignsRegions) {
  for (const char* mode : {"avg", "max"})
    for (std::int64_t samples : {0, 2}) roi_align(mode, samples).check_layouts(by("", "roi_align"), kSampled);
  roi_align("avg", 0)
      .attribute("coordinate_transformation_mode", std::string("output_half_pixel"))
      .attribute("spatial_scale", 0.5F)
      .check_layouts(by("", "roi_align"), kSampled);
}

}  // namespace
}  // namespace saccade
