#include <algorithm>

#include "op_case/op_case.hpp"
#include "ops/core/tf32.hpp"
#include "runtime/cuda_backend.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

// Accumulations of up to a thousand products of numbers up to 2 and weights up to 1. Inputs and weights are rounded to
// the type first, so in half precision only the output is rounded again.
Tolerance tolerance_of(DType dtype, bool tf32 = false) {
  if (dtype == DType::kFloat16) return {2e-3, 2e-3};
  if (dtype == DType::kBFloat16) return {2e-2, 1e-2};
  return tf32 ? Tolerance{3e-2, 2e-3} : Tolerance{1e-4, 1e-5};
}

/// FILTERS of KERNEL over images of SHAPE.
OpCase convolution(DType dtype, const Shape& shape, const Shape& filters, const std::string& op = "Conv") {
  OpCase made(op);
  made.input(dtype, shape).constant(random_elements(dtype, filters, -1, 1, 5));
  const std::int64_t count = op == "Conv" ? filters[0] : filters[1];
  made.constant(random_elements(dtype, {count}, -1, 1, 6));
  return made;
}

using Numbers = std::vector<std::int64_t>;

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

TEST(CudaConvolution, MultipliesPointsAndPatches) {
  for (const DType dtype : kTypes) {
    const auto check = [&](const OpCase& made) {
      made.check(on_cuda("tiled.convolution"), tolerance_of(dtype), Layout::kChannelsLast);
    };
    check(convolution(dtype, {1, 24, 5, 7}, {40, 24, 1, 1}).post("Relu"));
    check(convolution(dtype, {2, 8, 9, 6}, {16, 8, 3, 3}).attribute("pads", Numbers{1, 1, 1, 1}).post("Silu"));
    check(
        convolution(dtype, {1, 36, 8, 11}, {9, 36, 3, 3}).attribute("strides", Numbers{2, 2}).post_with_operand("Add"));
    check(convolution(dtype, {1, 3, 19, 17}, {8, 3, 7, 7})
              .attribute("strides", Numbers{2, 2})
              .attribute("pads", Numbers{3, 3, 3, 3}));
    check(convolution(dtype, {1, 16, 12, 12}, {8, 16, 3, 3})
              .attribute("dilations", Numbers{2, 3})
              .attribute("pads", Numbers{2, 3, 2, 3}));
    check(convolution(dtype, {1, 24, 5, 6}, {12, 6, 3, 3})
              .attribute("group", std::int64_t{4})
              .attribute("pads", Numbers{1, 1, 1, 1}));
    check(convolution(dtype, {1, 7, 5, 6}, {5, 7, 2, 3}));
  }
}

TEST(CudaConvolution, SplitsALongK) {
  for (const DType dtype : kTypes)
    convolution(dtype, {1, 512, 3, 3}, {24, 512, 1, 1})
        .check(on_cuda("tiled.convolution"), tolerance_of(dtype), Layout::kChannelsLast);
}

TEST(CudaConvolution, RoundsToTf32) {
  const auto check = [](OpCase made, const std::string& tactic = "tiled.convolution") {
    made.attribute(kTf32Attribute, std::int64_t{1})
        .check(on_cuda(tactic), tolerance_of(DType::kFloat32, true), Layout::kChannelsLast);
  };
  check(convolution(DType::kFloat32, {1, 24, 5, 7}, {40, 24, 1, 1}).post("Relu"));
  check(convolution(DType::kFloat32, {2, 16, 9, 6}, {16, 16, 3, 3}).attribute("pads", Numbers{1, 1, 1, 1}));
  check(convolution(DType::kFloat32, {1, 3, 19, 17}, {8, 3, 7, 7}).attribute("strides", Numbers{2, 2}));
  check(convolution(DType::kFloat32, {1, 7, 5, 6}, {5, 7, 2, 3}));
  check(convolution(DType::kFloat32, {1, 16, 4, 5}, {16, 8, 2, 2}, "ConvTranspose").attribute("strides", Numbers{2, 2}),
        "tiled.transposed_convolution");
}

TEST(CudaConvolution, TakesTf32WhereItMay) {
  for (const bool may : {true, false}) {
    test::GraphBuilder b;
    Tensor ones(DType::kFloat32, {16, 8, 1, 1});
    std::ranges::fill(ones.data<float>(), 1.0F);
    const ValueId x = b.input("x", {1, 8, 4, 4});
    Graph graph = b.build({b.op("Conv", {x, b.constant(ones)}, {{kTf32Attribute, std::int64_t{may}}})});
    for (ValueId id : {graph.inputs()[0], graph.outputs()[0]}) graph.value(id).layout = Layout::kChannelsLast;
    CompileOptions options;
    options.tactics = {"tiled.convolution"};
    Execution execution(Plan::compile(graph, cuda_backend({}), options));
    std::ranges::fill(execution.input(0).as<float>(), 1 + 0x1p-12F);  // 1 in tf32
    execution.run();
    EXPECT_EQ(execution.output(0).as<float>()[0], may ? 8.0F : 8 + 0x1p-9F);
  }
}

TEST(CudaConvolution, FiltersEveryChannelByItself) {
  for (const DType dtype : kTypes) {
    const auto check = [&](OpCase made, std::int64_t group) {
      made.attribute("group", group)
          .check(on_cuda("depthwise.convolution"), tolerance_of(dtype), Layout::kChannelsLast);
    };
    check(convolution(dtype, {1, 16, 7, 9}, {16, 1, 3, 3}).attribute("pads", Numbers{1, 1, 1, 1}).post("HardSwish"),
          16);
    check(convolution(dtype, {2, 12, 11, 8}, {12, 1, 5, 5}).attribute("strides", Numbers{2, 2}), 12);
    check(convolution(dtype, {1, 5, 9, 10}, {5, 1, 3, 3}).attribute("dilations", Numbers{2, 2}), 5);
    check(
        convolution(dtype, {1, 8, 9, 9}, {8, 1, 7, 7}).attribute("pads", Numbers{3, 3, 3, 3}).post_with_operand("Add"),
        8);
  }
}

TEST(CudaConvolution, Transposes) {
  for (const DType dtype : kTypes) {
    const auto check = [&](const OpCase& made) {
      made.check(on_cuda("tiled.transposed_convolution"), tolerance_of(dtype), Layout::kChannelsLast);
    };
    check(convolution(dtype, {1, 16, 4, 5}, {16, 8, 2, 2}, "ConvTranspose").attribute("strides", Numbers{2, 2}));
    check(convolution(dtype, {1, 12, 5, 3}, {12, 16, 4, 4}, "ConvTranspose")
              .attribute("strides", Numbers{2, 2})
              .attribute("pads", Numbers{1, 1, 1, 1})
              .post("Relu"));
    check(convolution(dtype, {2, 8, 3, 4}, {8, 8, 3, 3}, "ConvTranspose").attribute("output_padding", Numbers{0, 0}));
  }
}

TEST(CudaGemm, MultiplyByConstants) {
  for (const DType dtype : kTypes) {
    const auto check = [&](const OpCase& made) { made.check(on_cuda("tiled.matmul"), tolerance_of(dtype)); };
    check(OpCase("MatMul").input(dtype, {2, 13, 40}).constant(random_elements(dtype, {40, 24}, -1, 1, 5)).post("Gelu"));
    check(OpCase("MatMul").input(dtype, {7, 9}).constant(random_elements(dtype, {9, 11}, -1, 1, 5)));
    check(OpCase("Gemm")
              .input(dtype, {5, 64})
              .constant(random_elements(dtype, {33, 64}, -1, 1, 5))
              .constant(random_elements(dtype, {33}, -1, 1, 6))
              .attribute("transB", std::int64_t{1})
              .post_with_operand("Add"));
  }
  OpCase("MatMul")
      .input({3, 40})
      .constant({40, 24})
      .attribute(kTf32Attribute, std::int64_t{1})
      .check(on_cuda("tiled.matmul"), tolerance_of(DType::kFloat32, true));
}

TEST(CudaGemm, MultiplyActivations) {
  for (const DType dtype : kTypes) {
    const auto check = [&](const OpCase& made) { made.check(on_cuda("tiled.matmul"), tolerance_of(dtype)); };
    check(OpCase("MatMul").input(dtype, {2, 3, 17, 24}).input(dtype, {2, 3, 24, 19}));
    check(OpCase("MatMul").input(dtype, {3, 33, 10}).input(dtype, {10, 7}));
    check(
        OpCase("Gemm").input(dtype, {20, 32}).input(dtype, {12, 32}).attribute("transB", std::int64_t{1}).post("Relu"));
  }
}

}  // namespace
}  // namespace saccade
