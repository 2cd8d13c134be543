#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr Tolerance kLines{.absolute = 2e-5, .relative = 2e-5};
constexpr Tolerance kNormalizedHalf{.absolute = 4e-3, .relative = 4e-3};

OpCase softmax(const Shape& shape, std::int64_t axis) {
  OpCase made("Softmax");
  made.input(shape, -4, 4).attribute("axis", axis);
  return made;
}

TEST(CudaSoftmax, RunsAlongTheLastAxis) {
  softmax({3, 5}, -1).check(on_cuda("lines.softmax"), kLines);
  softmax({7, 197}, -1).check(on_cuda("lines.softmax"), kLines);
  softmax({2, 1500}, -1).check(on_cuda("lines.softmax"), kLines);
  softmax({2, 20000}, 1).check(on_cuda("lines.softmax"), kLines);
  softmax({4, 1}, 1).check(on_cuda("lines.softmax"), kLines);
  OpCase("LogSoftmax").input({7, 100}).check(on_cuda("lines.softmax"), kLines);
}

TEST(CudaSoftmax, RunsAlongAnyAxis) {
  for (std::int64_t axis = 0; axis < 4; ++axis)
    softmax({2, 16, 5, 7}, axis).check_layouts(on_cuda("lines.softmax"), kLines);
  softmax({2, 300, 40}, 1).check(on_cuda("lines.softmax"), kLines);
  OpCase("LogSoftmax")
      .input({2, 19, 4, 5})
      .attribute("axis", std::int64_t{1})
      .check_layouts(on_cuda("lines.softmax"), kLines);
}

TEST(CudaSoftmax, KeepsNumbersThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  OpCase("Softmax")
      .input(Tensor::of<float>({3, 3}, {1, nan, 2, -inf, 1, 2, -inf, -inf, -inf}))
      .check(on_cuda("lines.softmax"));
}

TEST(CudaSoftmax, ComputesHalfPrecisionInFloatWithPostOps) {
  OpCase("Softmax").input(DType::kFloat16, {5, 70}).check(on_cuda("lines.softmax"), kNormalizedHalf);
  OpCase("Softmax").input(DType::kBFloat16, {5, 70}).check(on_cuda("lines.softmax"), {1e-2, 1e-2});
  softmax({4, 30}, -1).post_with_operand("Mul").check(on_cuda("lines.softmax"), kLines);
}

TEST(CudaLayerNormalization, NormalizesRows) {
  OpCase("LayerNormalization")
      .input({7, 192})
      .constant({192})
      .constant({192})
      .check(on_cuda("lines.layer_normalization"), kLines);
  OpCase("LayerNormalization").input({2, 3, 1100}).input({1100}).check(on_cuda("lines.layer_normalization"), kLines);
  OpCase("LayerNormalization")
      .input({2, 3, 4, 5}, 100, 101)
      .input({4, 5})
      .input({4, 5})
      .attribute("axis", std::int64_t{2})
      .attribute("epsilon", 1e-3F)
      .post("Gelu")
      .check_layouts(on_cuda("lines.layer_normalization"), {2e-4, 2e-4});
  for (DType dtype : {DType::kFloat16, DType::kBFloat16})
    OpCase("LayerNormalization")
        .input(dtype, {5, 96})
        .input(dtype, {96})
        .input(dtype, {96})
        .check(on_cuda("lines.layer_normalization"),
               dtype == DType::kFloat16 ? kNormalizedHalf : Tolerance{5e-2, 2e-2});
}

TEST(CudaLayerNormalization, DividesByTheRootOfTheMeanOfSquares) {
  OpCase("RMSNormalization").input({7, 192}).constant({192}).check(on_cuda("lines.layer_normalization"), kLines);
  OpCase("RMSNormalization")
      .input({2, 3, 40})
      .input({3, 1})
      .check_layouts(on_cuda("lines.layer_normalization"), kLines);
}

TEST(CudaGroupNormalization, NormalizesGroupsOfChannels) {
  for (std::int64_t groups : {1, 2, 6})
    OpCase("GroupNormalization")
        .input({2, 6, 5, 7}, 10, 12)
        .input({6})
        .input({6})
        .attribute("num_groups", groups)
        .check_layouts(on_cuda("lines.group_normalization"), {1e-4, 1e-4});
  OpCase("GroupNormalization")
      .input({1, 6, 50})
      .input({2})
      .input({2})
      .attribute("num_groups", std::int64_t{2})
      .check_layouts(on_cuda("lines.group_normalization"), kLines);
  OpCase("InstanceNormalization")
      .input({2, 5, 40, 30})
      .input({5})
      .input({5})
      .post("Relu")
      .check_layouts(on_cuda("lines.group_normalization"), {5e-5, 5e-5});
}

TEST(CudaBatchNormalization, ScalesChannels) {
  OpCase("BatchNormalization")
      .input({2, 5, 4, 3})
      .constant({5})
      .constant({5})
      .constant({5})
      .constant({5}, 0.5F, 2)
      .check_layouts(on_cuda("elements.batch_normalization"), kLines);
  OpCase("BatchNormalization")
      .input({2, 5})
      .input({5})
      .constant({5})
      .constant({5})
      .input({5}, 0.5F, 2)
      .post("Relu")
      .check(on_cuda("elements.batch_normalization"), kLines);
}

}  // namespace
}  // namespace saccade
