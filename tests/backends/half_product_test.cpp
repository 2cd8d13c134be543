#include "op_case/built_case.hpp"
#include "op_case/network.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

constexpr On kConvolution = on_cpu("bf16.convolution");
constexpr On kMatMul = on_cpu("bf16.matmul");
// The reference rounds before each post-op, the kernels round once.
constexpr Tolerance kClose{.absolute = 3e-2, .relative = 2e-2};
using Integers = std::vector<std::int64_t>;

void check(const OpCase& product, const On& on) {
  const bool is_image = on.tactic == kConvolution.tactic;
  product.in(DType::kBFloat16).check(on, kClose, is_image ? Layout::kChannelsLast : Layout::kRowMajor);
}

TEST(HalfConvolution, OfRandomSizes) {
  RandomSizes any(19);
  for (int round = 0; round < 80; ++round) {
    const std::int64_t groups = round % 5 == 4 ? any(2, 3) : 1;
    const std::int64_t in = any(1, 80);
    const std::int64_t out = any(8, 70);
    OpCase convolution("Conv");
    convolution.input({any(1, 2), groups * in, any(9, 30), any(9, 30)}, -0.5F, 0.5F)
        .constant({groups * out, in, any(1, 4), any(1, 3)}, -0.3F, 0.3F)
        .constant({groups * out}, -1, 1)
        .attribute("group", groups)
        .attribute("strides", Integers{any(1, 3), any(1, 2)})
        .attribute("dilations", Integers{any(1, 2), any(1, 2)})
        .attribute("pads", Integers{any(0, 2), any(0, 2), any(0, 2), any(0, 2)});
    if (round % 2 == 0) convolution.post("Silu");
    if (round % 3 == 0) convolution.post_with_operand("Add");
    check(convolution, kConvolution);
  }
}

/// Patches share their padding between lines, unless there is none or it is too narrow.
TEST(HalfConvolution, OfPatches) {
  const auto made = [](const Shape& input, const Shape& weights, const Integers& pads, const Integers& strides) {
    return OpCase("Conv")
        .input(input, -0.5F, 0.5F)
        .constant(weights, -0.1F, 0.1F)
        .constant({weights[0]}, -1, 1)
        .attribute("pads", pads)
        .attribute("strides", strides)
        .post("Relu");
  };
  for (const Integers& pads : {Integers{1, 1, 1, 1}, Integers{0, 0, 0, 0}, Integers{2, 0, 0, 2}, Integers{0, 2, 2, 0}})
    for (const Integers& strides : {Integers{1, 1}, Integers{2, 2}, Integers{1, 3}}) {
      check(made({2, 64, 17, 20}, {40, 64, 3, 3}, pads, strides), kConvolution);
      check(made({1, 40, 9, 7}, {96, 40, 5, 5}, pads, strides), kConvolution);
    }
}

/// Few channels: an image's, and others; windows that are narrower than their stride, and wider than a step.
TEST(HalfConvolution, OfFewChannels) {
  RandomSizes any(23);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t groups = round % 6 == 5 ? 2 : 1;
    const std::int64_t in = round % 2 == 0 ? 3 : any(1, 13);
    OpCase convolution("Conv");
    convolution.input({any(1, 2), groups * in, any(12, 40), any(12, 40)}, -0.5F, 0.5F)
        .constant({groups * 16, in, any(1, 7), any(1, 11)}, -0.2F, 0.2F)
        .constant({groups * 16}, -1, 1)
        .attribute("group", groups)
        .attribute("strides", Integers{any(1, 4), any(1, 3)})
        .attribute("dilations", Integers{any(1, 2), 1})
        .attribute("pads", Integers{any(0, 3), any(0, 5), any(0, 3), any(0, 5)})
        .post("Silu");
    check(convolution, kConvolution);
  }
}

/// Of the last vector of a panel, any number of lanes is used.
TEST(HalfConvolution, OfAnyNumberOfColumns) {
  for (const std::int64_t channels : {1, 4, 8, 9, 16, 17, 20, 24, 25, 32, 33, 40, 41, 56, 57})
    for (const std::int64_t width : {1, 5, 13, 21}) {
      check(OpCase("Conv").input({1, 10, 3, width}, -0.5F, 0.5F).constant({channels, 10, 1, 1}, -1, 1), kConvolution);
      check(OpCase("Conv")
                .input({1, 6, 5, width}, -0.5F, 0.5F)
                .constant({channels, 6, 3, 3}, -1, 1)
                .constant({channels}, -1, 1)
                .attribute("pads", Integers{1, 1, 1, 1})
                .post("Relu"),
            kConvolution);
    }
}

/// An image's convolution, and one whose group lies beside another group's infinity.
TEST(HalfConvolution, MultipliesFewChannelsByLines) {
  Network n(DType::kBFloat16, 20, 24);
  const auto plan = expect_as_reference(backend_of(TestedBackend::kCpu), n.build({n.conv(n.input(3), 16, 3)}), kClose);
  for (const Step& step : plan->steps())
    if (plan->graph().node(step.node).is("Conv")) {
      EXPECT_NE(step.launch->detail().find("lines"), std::string::npos) << step.launch->detail();
    }
  check(OpCase("Conv")
            .input(with_few_specials(random_tensor({1, 2, 14, 15}, -1, 1, 5), 3))
            .constant({32, 1, 3, 3}, -1, 1)
            .attribute("group", std::int64_t{2}),
        kConvolution);
}

TEST(HalfConvolution, OfAnyRank) {
  check(OpCase("Conv")
            .input({2, 9, 31})
            .constant({20, 9, 5}, -0.3F, 0.3F)
            .constant({20}, -1, 1)
            .attribute("pads", Integers{2, 2}),
        kConvolution);
  check(OpCase("Conv")
            .input({1, 5, 6, 7, 8})
            .constant({17, 5, 3, 2, 3}, -0.3F, 0.3F)
            .attribute("pads", Integers{1, 0, 1, 1, 1, 0})
            .attribute("strides", Integers{2, 1, 1}),
        kConvolution);
  // One plane, padded to three.
  check(OpCase("Conv")
            .input({1, 64, 1, 12, 12}, -0.5F, 0.5F)
            .constant({32, 64, 1, 3, 3}, -0.1F, 0.1F)
            .attribute("pads", Integers{1, 1, 1, 1, 1, 1}),
        kConvolution);
}

/// Channels that have no steps of equal length, or many short ones, and windows that reach far.
TEST(HalfConvolution, OfUnevenSteps) {
  for (const std::int64_t channels : {62, 74, 63, 202})
    for (const std::int64_t kernel : {1, 3})
      check(OpCase("Conv")
                .input({1, channels, 11, 13}, -0.5F, 0.5F)
                .constant({40, channels, kernel, kernel}, -0.1F, 0.1F)
                .attribute("pads", Integers{1, 1, 1, 1}),
            kConvolution);
  check(OpCase("Conv")
            .input({1, 32, 5, 3}, -0.5F, 0.5F)
            .constant({32, 32, 3, 3}, -0.1F, 0.1F)
            .attribute("dilations", Integers{1, 700})
            .attribute("pads", Integers{1, 1400, 1, 1400}),
        kConvolution);
}

/// Steps that share elements with the one before: in lines, patches and pixels, of even and odd numbers of channels.
/// Large sums, which an element with half or twice its weight would move far.
TEST(HalfConvolution, OfStepsThatShareElements) {
  for (const std::int64_t channels : {7, 13, 33, 35, 46, 48, 49, 77, 100, 129})
    for (const Shape& kernel : {Shape{1, 1}, Shape{3, 3}, Shape{2, 5}})
      for (const Integers& strides : {Integers{1, 1}, Integers{2, 2}})
        check(OpCase("Conv")
                  .input({1, channels, 12, 15}, 0.5F, 1)
                  .constant({20, channels, kernel[0], kernel[1]}, 0.1F, 0.2F)
                  .constant({20}, -1, 1)
                  .attribute("pads", Integers{kernel[0] / 2, kernel[1] / 2, kernel[0] / 2, kernel[1] / 2})
                  .attribute("strides", strides)
                  .post("Relu"),
              kConvolution);
}

/// Outputs of a few columns, alone in their pixels, with post-ops that have no epilogue.
TEST(HalfConvolution, OfNarrowOutputs) {
  for (const std::int64_t columns : {1, 2, 3, 8, 9, 16, 17})
    for (const char* residual : {"", "before", "after"}) {
      OpCase made("Conv");
      made.input({1, 16, 13, 11}, -1, 1).constant({columns, 16, 1, 1}, -0.3F, 0.3F).constant({columns}, -1, 1);
      if (residual == std::string_view("before")) made.post_with_operand("Mul");
      made.post("Exp").post("Clip", 0.5F, 2);
      if (residual == std::string_view("after")) made.post_with_operand("Add");
      SCOPED_TRACE(std::to_string(columns) + " " + residual);
      check(made, kConvolution);
    }
}

TEST(HalfConvolution, OfSinglePixels) {
  for (const std::int64_t channels : {64, 70})
    for (const Integers& strides : {Integers{1, 1}, Integers{2, 2}})
      check(OpCase("Conv")
                .input({2, channels, 23, 19}, -0.5F, 0.5F)
                .constant({33, channels, 1, 1}, -0.3F, 0.3F)
                .constant({33}, -1, 1)
                .attribute("strides", strides)
                .post_with_operand("Add")
                .post("Relu"),
            kConvolution);
}

/// Activations before and after a residual, of whole tiles and of partial ones.
TEST(HalfConvolution, OfEveryEpilogue) {
  for (const char* activation : {"", "Relu", "LeakyRelu", "Clip", "Silu", "Sigmoid", "HardSwish", "Gelu", "Tanh"})
    for (const char* residual : {"", "before", "after"}) {
      OpCase made("Conv");
      made.input(with_few_specials(random_tensor({1, 64, 9, 7}, -2, 2, 5), 2))
          .constant({70, 64, 1, 1}, -0.1F, 0.1F)
          .constant({70}, -1, 1);
      if (residual == std::string_view("before")) made.post_with_operand("Add");
      if (activation[0] != 0) made.post(activation, -1, 6);
      if (residual == std::string_view("after")) made.post_with_operand("Add");
      SCOPED_TRACE(std::string(activation) + " " + residual);
      check(made, kConvolution);
    }
}

TEST(HalfConvolution, InManyPartsOnTwoThreads) {
  OpCase("Conv")
      .input({1, 64, 120, 60}, -0.5F, 0.5F)
      .constant({160, 64, 3, 3}, -0.1F, 0.1F)
      .constant({160}, -1, 1)
      .attribute("pads", Integers{1, 1, 1, 1})
      .post("Silu")
      .in(DType::kBFloat16)
      .check_two_threads(kConvolution, Layout::kChannelsLast, kClose);
}

/// A pixel that is not finite reaches the pixels that read it, and no others.
TEST(HalfConvolution, KeepsNanAndInfinity) {
  for (const std::int64_t channels : {3, 35, 40, 48, 64})
    check(OpCase("Conv")
              .input(with_few_specials(random_tensor({1, channels, 14, 17}, -0.5F, 0.5F, 5), 3))
              .constant({33, channels, 3, 3}, -0.2F, 0.2F)
              .attribute("pads", Integers{1, 1, 1, 1})
              .post("Relu"),
          kConvolution);
}

TEST(HalfMatMul, OfRandomSizes) {
  RandomSizes any(11);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t m = any(1, 90);
    const std::int64_t k = any(1, 120);
    const std::int64_t n = any(1, 90);
    OpCase product("MatMul");
    product.input(round % 3 == 0 ? Shape{any(1, 3), m, k} : Shape{m, k}, -0.5F, 0.5F);
    if (round % 2 == 0)
      product.constant({k, n}, -0.3F, 0.3F);
    else
      product.input({k, n}, -0.3F, 0.3F);
    if (round % 4 == 0) product.post("Silu");
    if (round % 5 == 0) product.absent().post_with_operand("Add");
    check(product, kMatMul);
  }
}

/// Batches of right operands, and operands that broadcast.
TEST(HalfMatMul, OfBatches) {
  const auto made = [](const Shape& left, const Shape& right) {
    return OpCase("MatMul").input(left, -0.5F, 0.5F).input(right, -0.5F, 0.5F);
  };
  check(made({3, 2, 19, 33}, {3, 2, 33, 21}), kMatMul);
  check(made({2, 19, 64}, {3, 1, 64, 21}), kMatMul);
  check(made({1, 19, 33}, {4, 33, 21}).post("Relu"), kMatMul);
  check(made({19, 33}, {2, 33, 18}), kMatMul);
}

TEST(HalfMatMul, OfGemm) {
  check(OpCase("Gemm")
            .input({7, 40}, -0.5F, 0.5F)
            .constant({50, 40}, -0.3F, 0.3F)
            .constant({1, 50}, -1, 1)
            .attribute("transB", std::int64_t{1})
            .attribute("alpha", 0.5F)
            .attribute("beta", 2.0F)
            .post("Relu"),
        kMatMul);
  check(OpCase("Gemm").input({5, 40}, -0.5F, 0.5F).input({40, 9}, -0.5F, 0.5F), kMatMul);
}

TEST(HalfProduct, RefusesOtherTypes) {
  EXPECT_FALSE(OpCase("MatMul").input({5, 40}).input({40, 9}).supports(kMatMul));
  EXPECT_FALSE(OpCase("MatMul").input({5, 40}).input({40, 9}).in(DType::kFloat16).supports(kMatMul));
  EXPECT_TRUE(OpCase("MatMul").input({5, 40}).input({40, 9}).in(DType::kBFloat16).supports(kMatMul));
}

}  // namespace
}  // namespace saccade
