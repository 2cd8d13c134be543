#include "op_case/op_case.hpp"

namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr Tolerance kDirectSums{.absolute = 1e-4, .relative = 1e-4};
constexpr Tolerance kDirectHalf{.absolute = 1e-2, .relative = 1e-2};

TEST(CudaDirect, Convolves) {
  OpCase("Conv").input({2, 3, 7, 6}).input({4, 3, 3, 3}).check_layouts(on_cuda("direct.convolution"), kDirectSums);
  OpCase("Conv")
      .input({1, 4, 9, 8})
      .constant({6, 2, 3, 2})
      .constant({6})
      .attribute("group", std::int64_t{2})
      .attribute("strides", Integers{2, 1})
      .attribute("pads", Integers{1, 2, 0, 1})
      .attribute("dilations", Integers{2, 3})
      .post("Relu")
      .post_with_operand("Add")
      .check_layouts(on_cuda("direct.convolution"), kDirectSums);
  OpCase("Conv")
      .input({2, 4, 11})
      .constant({4, 1, 5})
      .attribute("group", std::int64_t{4})
      .check_layouts(on_cuda("direct.convolution"), kDirectSums);
  OpCase("Conv")
      .input({1, 2, 4, 5, 6})
      .constant({3, 2, 2, 3, 1})
      .attribute("auto_pad", std::string("SAME_UPPER"))
      .check_layouts(on_cuda("direct.convolution"), kDirectSums);
  OpCase("Conv").input({1, 8, 5, 5}).constant({5, 8, 1, 1}).check_layouts(on_cuda("direct.convolution"), kDirectSums);
}

TEST(CudaDirect, ConvolvesHalfPrecisionInFloat) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat16 ? kDirectHalf : Tolerance{0.1, 5e-2};
    OpCase("Conv")
        .input(dtype, {1, 3, 6, 6})
        .input(dtype, {4, 3, 3, 3})
        .input(dtype, {4})
        .check_layouts(on_cuda("direct.convolution"), tolerance);
  }
}

TEST(CudaDirect, ConvolvesTransposed) {
  OpCase("ConvTranspose")
      .input({2, 3, 5, 4})
      .input({3, 4, 2, 2})
      .attribute("strides", Integers{2, 2})
      .check_layouts(on_cuda("direct.convolution"), kDirectSums);
  OpCase("ConvTranspose")
      .input({1, 4, 5, 6})
      .constant({4, 3, 3, 4})
      .constant({6})
      .attribute("group", std::int64_t{2})
      .attribute("strides", Integers{2, 3})
      .attribute("pads", Integers{1, 0, 2, 1})
      .attribute("output_padding", Integers{1, 0})
      .attribute("dilations", Integers{2, 1})
      .post("Sigmoid")
      .check_layouts(on_cuda("direct.convolution"), kDirectSums);
  OpCase("ConvTranspose")
      .input({1, 2, 9})
      .constant({2, 3, 4})
      .check_layouts(on_cuda("direct.convolution"), kDirectSums);
}

TEST(CudaDirect, MultipliesMatrices) {
  OpCase("MatMul").input({5, 7}).input({7, 6}).check(on_cuda("direct.matmul"), kDirectSums);
  OpCase("MatMul")
      .input({2, 3, 5, 7})
      .constant({7, 6})
      .constant({6})
      .check_layouts(on_cuda("direct.matmul"), kDirectSums);
  OpCase("MatMul")
      .input({3, 1, 4, 5})
      .input({2, 5, 3})
      .post("Silu")
      .check_layouts(on_cuda("direct.matmul"), kDirectSums);
  OpCase("MatMul").input({5}).input({2, 5, 3}).check(on_cuda("direct.matmul"), kDirectSums);
  OpCase("MatMul").input({2, 4, 5}).input({5}).check(on_cuda("direct.matmul"), kDirectSums);
  OpCase("MatMul").input({5}).input({5}).check(on_cuda("direct.matmul"), kDirectSums);
  OpCase("MatMul")
      .input(DType::kFloat16, {6, 9})
      .input(DType::kFloat16, {9, 4})
      .check(on_cuda("direct.matmul"), kDirectHalf);
  OpCase("MatMul")
      .input(DType::kInt32, {3, 4}, -90000, 90000)
      .input(DType::kInt32, {4, 5}, -90000, 90000)
      .check(on_cuda("direct.matmul"));
}

TEST(CudaDirect, AddsToScaledGemms) {
  OpCase("Gemm").input({5, 7}).input({7, 6}).input({6}).check(on_cuda("direct.matmul"), kDirectSums);
  OpCase("Gemm")
      .input({7, 5})
      .input({6, 7})
      .input({5, 1})
      .attribute("transA", std::int64_t{1})
      .attribute("transB", std::int64_t{1})
      .attribute("alpha", 0.5F)
      .attribute("beta", -2.0F)
      .check(on_cuda("direct.matmul"), kDirectSums);
  OpCase("Gemm")
      .input(DType::kInt64, {3, 4}, -9, 9)
      .input(DType::kInt64, {4, 2}, -9, 9)
      .check(on_cuda("direct.matmul"));
}

}  // namespace
}  // namespace saccade
