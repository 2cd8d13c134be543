#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr Tolerance kSampled{.absolute = 1e-4, .relative = 1e-4};

TEST(CudaGridSample, SamplesInEveryMode) {
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      OpCase("GridSample")
          .input({2, 3, 6, 5})
          .input({2, 4, 7, 2}, -1.4F, 1.4F)
          .attribute("mode", std::string(mode))
          .attribute("padding_mode", std::string(padding))
          .attribute("align_corners", std::int64_t{padding[0] == 'b' ? 1 : 0})
          .check_layouts(on_cuda("grid_sample"), kSampled);
}

TEST(CudaGridSample, SamplesVolumesAndOtherTypes) {
  OpCase("GridSample")
      .input({1, 2, 4, 5, 6})
      .input({1, 2, 3, 4, 3}, -1, 1)
      .post("Relu")
      .check(on_cuda("grid_sample"), kSampled);
  OpCase("GridSample")
      .input(DType::kUInt8, {1, 2, 5, 5}, 0, 255)
      .input({1, 3, 3, 2}, -1, 1)
      .check(on_cuda("grid_sample"), {1, 0});
  OpCase("GridSample")
      .input(DType::kFloat16, {1, 2, 5, 5})
      .input({1, 3, 3, 2}, -1, 1)
      .check(on_cuda("grid_sample"), {2e-3, 2e-3});
}

OpCase roi_align(const char* mode, std::int64_t samples) {
  OpCase made("RoiAlign");
  made.input({2, 3, 12, 10});
  made.input(Tensor::of<float>({4, 4}, {1, 2, 9, 8, 0, 0, 20, 22, -3, 5, 4, 5.5F, 6, 6, 5, 5}));
  made.input(Tensor::of<std::int64_t>({4}, {0, 1, 1, 0}));
  made.attribute("mode", std::string(mode)).attribute("sampling_ratio", samples);
  made.attribute("output_height", std::int64_t{3}).attribute("output_width", std::int64_t{4});
  return made;
}

TEST(CudaRoiAlign, AlignsRegions) {
  for (const char* mode : {"avg", "max"})
    for (std::int64_t samples : {0, 2}) roi_align(mode, samples).check_layouts(on_cuda("roi_align"), kSampled);
  roi_align("avg", 0)
      .attribute("coordinate_transformation_mode", std::string("output_half_pixel"))
      .attribute("spatial_scale", 0.5F)
      .check_layouts(on_cuda("roi_align"), kSampled);
}

}  // namespace
}  // namespace saccade
