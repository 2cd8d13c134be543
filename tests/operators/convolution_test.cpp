#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

constexpr Tactics kConvolution{.cpu = "onednn.convolution", .cuda = "direct.convolution"};
constexpr Tactics kDeconvolution{.cpu = "onednn.deconvolution", .cuda = "direct.convolution"};
constexpr Tolerance kClose{.absolute = 1e-4, .relative = 1e-4};
using Integers = std::vector<std::int64_t>;

struct Post {
  const char* op;
  float alpha = 0;
  float beta = 0;
};

constexpr Post kPosts[] = {
    {"Relu"},       {"LeakyRelu", 0.1F},         {"Sigmoid"},   {"Silu"}, {"Tanh"}, {"Gelu"}, {"HardSwish"},
    {"Clip", 0, 6}, {"HardSigmoid", 0.2F, 0.5F}, {"Elu", 1.0F}, {"Abs"},  {"Neg"},  {"Mish"}};

constexpr Tolerance kDirectHalf{.absolute = 1e-2, .relative = 1e-2};

SACCADE_EVERY_BACKEND(Convolution);
SACCADE_EVERY_BACKEND(Deconvolution);

TEST_P(Convolution, PlainStridedDilatedPadded) {
  OpCase("Conv")
      .input({2, 8, 13, 11})
      .constant({16, 8, 3, 3}, -1, 1)
      .constant({16}, -1, 1)
      .check_layouts(by(kConvolution), kClose);
  OpCase("Conv")
      .input({1, 3, 13, 11})
      .constant({20, 3, 5, 3}, -1, 1)
      .attribute("strides", Integers{2, 3})
      .attribute("pads", Integers{2, 1, 0, 3})
      .attribute("dilations", Integers{1, 2})
      .check_layouts(by(kConvolution), kClose);
}

TEST_P(Convolution, PadsByItself) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    OpCase("Conv")
        .input({1, 4, 10, 9})
        .constant({6, 4, 3, 4}, -1, 1)
        .attribute("strides", Integers{2, 2})
        .attribute("auto_pad", mode)
        .check_layouts(by(kConvolution), kClose);
}

TEST_P(Convolution, GroupedAndDepthwise) {
  OpCase("Conv")
      .input({1, 12, 9, 9})
      .constant({18, 4, 3, 3}, -1, 1)
      .attribute("group", std::int64_t{3})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(by(kConvolution), kClose);
  OpCase("Conv")
      .input({1, 24, 9, 9})
      .constant({24, 1, 3, 3}, -1, 1)
      .constant({24}, -1, 1)
      .attribute("group", std::int64_t{24})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(by(kConvolution), kClose);
  OpCase("Conv")
      .input({1, 5, 9, 9})
      .constant({10, 1, 3, 3}, -1, 1)
      .attribute("group", std::int64_t{5})
      .check_layouts(by(kConvolution), kClose);
}

TEST_P(Convolution, OneDimension) {
  OpCase("Conv")
      .input({2, 6, 31})
      .constant({9, 6, 5}, -1, 1)
      .constant({9}, -1, 1)
      .attribute("pads", Integers{2, 2})
      .check_layouts(by(kConvolution), kClose);
}

TEST_P(Convolution, Pointwise) {
  OpCase("Conv")
      .input({1, 85, 20, 20})
      .constant({37, 85, 1, 1}, -1, 1)
      .constant({37}, -1, 1)
      .check_layouts(by(kConvolution), kClose);
}

TEST_P(Convolution, RunsEveryPostOp) {
  for (const Post& post : kPosts)
    OpCase("Conv")
        .input({1, 8, 9, 9})
        .constant({16, 8, 3, 3}, -1, 1)
        .constant({16}, -1, 1)
        .post(post.op, post.alpha, post.beta)
        .check_layouts(by(kConvolution), kClose);
}

TEST_P(Convolution, ResidualsAreReadNotWritten) {
  OpCase("Conv")
      .input({1, 16, 9, 9})
      .constant({16, 16, 3, 3}, -1, 1)
      .constant({16}, -1, 1)
      .attribute("pads", Integers{1, 1, 1, 1})
      .post("Silu")
      .post_with_operand("Add")
      .post_with_operand("Mul")
      .post("Relu")
      .check_layouts(by(kConvolution), kClose);
}

TEST_P(Convolution, ResidualsAreReadWhereWindowsLieInThePaddingAlone) {
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
        .check_layouts(by(kConvolution), kClose);
}

TEST_P(Convolution, KeepsThePostOpsOfOneKindApart) {
  const auto conv = [] { return OpCase("Conv").input({1, 8, 7, 9}).constant({16, 8, 3, 3}, -1, 1).absent(); };
  conv().post("Clip", -0.5F, 1.5F).post("HardSigmoid", 0.5F, 0.5F).check_layouts(by(kConvolution), kClose);
  conv().post("LeakyRelu", 0.7F).post_with_operand("Add").post("Relu").check_layouts(by(kConvolution), kClose);
  conv().post("Elu", 0.3F).post("Elu", 2).check_layouts(by(kConvolution), kClose);
  conv().post("Clip", 0, 1).post_with_operand("Add").post("Clip", 0, 1).check_layouts(by(kConvolution), kClose);
}

TEST_P(Deconvolution, DoublesAnImage) {
  OpCase("ConvTranspose")
      .input({1, 8, 7, 5})
      .constant({8, 16, 2, 2}, -1, 1)
      .constant({16}, -1, 1)
      .attribute("strides", Integers{2, 2})
      .post("Relu")
      .check_layouts(by(kDeconvolution), kClose);
}

TEST_P(Deconvolution, PadsItsOutput) {
  OpCase("ConvTranspose")
      .input({2, 6, 7, 5})
      .constant({6, 4, 3, 4}, -1, 1)
      .attribute("strides", Integers{2, 2})
      .attribute("pads", Integers{1, 1, 1, 1})
      .attribute("output_padding", Integers{1, 0})
      .check_layouts(by(kDeconvolution), kClose);
}

TEST_P(Deconvolution, Groups) {
  OpCase("ConvTranspose")
      .input({1, 6, 7, 5})
      .constant({6, 2, 3, 3}, -1, 1)
      .constant({6}, -1, 1)
      .attribute("group", std::int64_t{3})
      .check_layouts(by(kDeconvolution), kClose);
}

TEST_P(Deconvolution, KeepsThePostOpsOfOneKindApart) {
  OpCase("ConvTranspose")
      .input({1, 8, 7, 5})
      .constant({8, 16, 2, 2}, -1, 1)
      .post("Clip", -0.5F, 1.5F)
      .post("HardSigmoid", 0.5F, 0.5F)
      .check_layouts(by(kDeconvolution), kClose);
}

TEST_P(Convolution, Convolves) {
  OpCase("Conv").input({2, 3, 7, 6}).input({4, 3, 3, 3}).check_layouts(by("", "direct.convolution"), kClose);
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
      .check_layouts(by("", "direct.convolution"), kClose);
  OpCase("Conv")
      .input({2, 4, 11})
      .constant({4, 1, 5})
      .attribute("group", std::int64_t{4})
      .check_layouts(by("", "direct.convolution"), kClose);
  OpCase("Conv")
      .input({1, 2, 4, 5, 6})
      .constant({3, 2, 2, 3, 1})
      .attribute("auto_pad", std::string("SAME_UPPER"))
      .check_layouts(by("", "direct.convolution"), kClose);
  OpCase("Conv").input({1, 8, 5, 5}).constant({5, 8, 1, 1}).check_layouts(by("", "direct.convolution"), kClose);
}

TEST_P(Convolution, ConvolvesHalfPrecisionInFloat) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat16 ? kDirectHalf : Tolerance{0.1, 5e-2};
    OpCase("Conv")
        .input(dtype, {1, 3, 6, 6})
        .input(dtype, {4, 3, 3, 3})
        .input(dtype, {4})
        .check_layouts(by("", "direct.convolution"), tolerance);
  }
}

TEST_P(Deconvolution, ConvolvesTransposed) {
  OpCase("ConvTranspose")
      .input({2, 3, 5, 4})
      .input({3, 4, 2, 2})
      .attribute("strides", Integers{2, 2})
      .check_layouts(by("", "direct.convolution"), kClose);
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
      .check_layouts(by("", "direct.convolution"), kClose);
  OpCase("ConvTranspose").input({1, 2, 9}).constant({2, 3, 4}).check_layouts(by("", "direct.convolution"), kClose);
}

}  // namespace
}  // namespace saccade
