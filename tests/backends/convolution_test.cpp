#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("onednn.convolution");
constexpr Tolerance kClose{.absolute = 1e-4, .relative = 1e-4};
using Integers = std::vector<std::int64_t>;

TEST(Convolution, PlainStridedDilatedPadded) {
  OpCase("Conv")
      .input({2, 8, 13, 11})
      .constant({16, 8, 3, 3}, -1, 1)
      .constant({16}, -1, 1)
      .check_layouts(kTactic, kClose);
  OpCase("Conv")
      .input({1, 3, 13, 11})
      .constant({20, 3, 5, 3}, -1, 1)
      .attribute("strides", Integers{2, 3})
      .attribute("pads", Integers{2, 1, 0, 3})
      .attribute("dilations", Integers{1, 2})
      .check_layouts(kTactic, kClose);
}

TEST(Convolution, PadsByItself) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    OpCase("Conv")
        .input({1, 4, 10, 9})
        .constant({6, 4, 3, 4}, -1, 1)
        .attribute("strides", Integers{2, 2})
        .attribute("auto_pad", mode)
        .check_layouts(kTactic, kClose);
}

TEST(Convolution, GroupedAndDepthwise) {
  OpCase("Conv")
      .input({1, 12, 9, 9})
      .constant({18, 4, 3, 3}, -1, 1)
      .attribute("group", std::int64_t{3})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(kTactic, kClose);
  OpCase("Conv")
      .input({1, 24, 9, 9})
      .constant({24, 1, 3, 3}, -1, 1)
      .constant({24}, -1, 1)
      .attribute("group", std::int64_t{24})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(kTactic, kClose);
  OpCase("Conv")
      .input({1, 5, 9, 9})
      .constant({10, 1, 3, 3}, -1, 1)
      .attribute("group", std::int64_t{5})
      .check_layouts(kTactic, kClose);
}

TEST(Convolution, OneDimension) {
  OpCase("Conv")
      .input({2, 6, 31})
      .constant({9, 6, 5}, -1, 1)
      .constant({9}, -1, 1)
      .attribute("pads", Integers{2, 2})
      .check_layouts(kTactic, kClose);
}

TEST(Convolution, Pointwise) {
  OpCase("Conv")
      .input({1, 85, 20, 20})
      .constant({37, 85, 1, 1}, -1, 1)
      .constant({37}, -1, 1)
      .check_layouts(kTactic, kClose);
}

struct Post {
  const char* op;
  float alpha = 0;
  float beta = 0;
};

class ConvolutionPostOp : public testing::TestWithParam<Post> {};

TEST_P(ConvolutionPostOp, IsFused) {
  OpCase("Conv")
      .input({1, 8, 9, 9})
      .constant({16, 8, 3, 3}, -1, 1)
      .constant({16}, -1, 1)
      .post(GetParam().op, GetParam().alpha, GetParam().beta)
      .check_layouts(kTactic, kClose);
}

INSTANTIATE_TEST_SUITE_P(All, ConvolutionPostOp,
                         testing::Values(Post{"Relu"}, Post{"LeakyRelu", 0.1F}, Post{"Sigmoid"}, Post{"Silu"},
                                         Post{"Tanh"}, Post{"Gelu"}, Post{"HardSwish"}, Post{"Clip", 0, 6},
                                         Post{"HardSigmoid", 0.2F, 0.5F}, Post{"Elu", 1.0F}, Post{"Abs"}, Post{"Neg"},
                                         Post{"Mish"}),
                         [](const auto& post) { return std::string(post.param.op); });

TEST(Convolution, ResidualsAreReadNotWritten) {
  OpCase("Conv")
      .input({1, 16, 9, 9})
      .constant({16, 16, 3, 3}, -1, 1)
      .constant({16}, -1, 1)
      .attribute("pads", Integers{1, 1, 1, 1})
      .post("Silu")
      .post_with_operand("Add")
      .post_with_operand("Mul")
      .post("Relu")
      .check_layouts(kTactic, kClose);
}

TEST(Convolution, ResidualsAreReadWhereWindowsLieInThePaddingAlone) {
  for (const std::int64_t dilation : {1, 2})
    OpCase("Conv")
        .input({2, 4, 8, 1})
        .constant({4, 4, 1, 3}, -1, 1)
        .constant({4}, -1, 1)
        .attribute("pads", Integers{0, 3, 0, 2})
        .attribute("dilations", Integers{1, dilation})
        .post("Relu")
        .post_with_operand("Add")
        .post_with_operand("Mul")
        .check_layouts(kTactic, kClose);
}

TEST(Convolution, ReadsOperandsThatLieOtherwiseThanTheOutput) {
  OpCase("Conv")
      .input({1, 8, 9, 9})
      .constant({8, 8, 1, 1}, -1, 1)
      .absent()
      .post_with_operand("Add")
      .input_layout(3, Layout::kRowMajor)
      .check(kTactic, kClose, Layout::kChannelsLast);
}

TEST(Convolution, RunsOnTwoThreads) {
  OpCase("Conv")
      .input({1, 16, 40, 40})
      .constant({16, 16, 3, 3}, -1, 1)
      .constant({16}, -1, 1)
      .post("Silu")
      .check_two_threads(kTactic, Layout::kChannelsLast, kClose);
}

TEST(Convolution, RefusesWeightsThatAreNotConstant) {
  EXPECT_FALSE(OpCase("Conv").input({1, 8, 9, 9}).input({16, 8, 3, 3}).supports(kTactic));
}

TEST(Convolution, RefusesEmptyTensors) {
  EXPECT_FALSE(OpCase("Conv").input({0, 8, 9, 9}).constant({16, 8, 3, 3}, -1, 1).supports(kTactic));
}

TEST(Convolution, KeepsThePostOpsOfOneKindApart) {
  const auto conv = [] { return OpCase("Conv").input({1, 8, 7, 9}).constant({16, 8, 3, 3}, -1, 1).absent(); };
  conv().post("Clip", -0.5F, 1.5F).post("HardSigmoid", 0.5F, 0.5F).check_layouts(kTactic, kClose);
  conv().post("LeakyRelu", 0.7F).post_with_operand("Add").post("Relu").check_layouts(kTactic, kClose);
  conv().post("Elu", 0.3F).post("Elu", 2).check_layouts(kTactic, kClose);
  conv().post("Clip", 0, 1).post_with_operand("Add").post("Clip", 0, 1).check_layouts(kTactic, kClose);
}

}  // namespace
}  // namespace saccade
