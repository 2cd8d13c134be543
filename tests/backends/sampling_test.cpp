#include <limits>

#include "op_case/op_case.hpp"

namespace saccade {
namespace {

TEST(GridSample, BilinearWithZerosAround) {
  for (std::int64_t align : {0, 1})
    OpCase("GridSample")
        .input({2, 19, 7, 9})
        .input({2, 5, 6, 2}, -1.3F, 1.3F)
        .attribute("mode", "linear")
        .attribute("align_corners", align)
        .check_layouts(on_cpu("vector.grid_sample"), {.absolute = 1e-5, .relative = 1e-5});
}

TEST(GridSample, FarAwayAndNotANumberAreZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpCase("GridSample")
      .input({1, 3, 4, 4})
      .input(Tensor::of<float>({1, 1, 3, 2}, {nan, 0, 1e30F, -1e30F, 0, 0}))
      .check_layouts(on_cpu("vector.grid_sample"), {.absolute = 1e-5, .relative = 1e-5});
}

constexpr On kRoiAlign = on_cpu("vector.roi_align");
constexpr Tolerance kClose{.absolute = 2e-5, .relative = 2e-5};

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

TEST(RoiAlign, AveragesInBothLayouts) {
  for (std::int64_t samples : {0, 1, 2, 9})
    for (const char* coordinates : {"half_pixel", "output_half_pixel"})
      roi_align(samples, coordinates).check_layouts(kRoiAlign, kClose);
}

TEST(RoiAlign, OfNoRegionsAndWithAnActivation) {
  OpCase("RoiAlign")
      .input({1, 4, 5, 5})
      .input(Tensor(DType::kFloat32, {0, 4}))
      .input(Tensor(DType::kInt64, {0}))
      .check_layouts(kRoiAlign, kClose);
  roi_align(2, "half_pixel").post("Relu").check_layouts(kRoiAlign, kClose);
}

TEST(RoiAlign, RefusesAnImageThatIsNotThere) {
  OpCase wrong("RoiAlign");
  wrong.input({1, 4, 5, 5}).input(Tensor::of<float>({1, 4}, {0, 0, 2, 2}));
  wrong.input(Tensor::of<std::int64_t>({1}, {1}));
  EXPECT_THROW(wrong.run(kRoiAlign), Error);
}

TEST(RoiAlign, LeavesTheLargestToTheReference) {
  EXPECT_FALSE(roi_align(2, "half_pixel").attribute("mode", "max").supports(kRoiAlign));
}

}  // namespace
}  // namespace saccade
