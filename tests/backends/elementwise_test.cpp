#include <limits>

#include "op_case/op_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.elementwise");
// Vector functions are within a few units in the last place of the C library's.
constexpr Tolerance kClose{.absolute = 1e-6, .relative = 2e-6};

struct Unary {
  const char* op;
  const char* domain = "";
  float low = -6;
  float high = 6;
};

class UnaryTest : public testing::TestWithParam<Unary> {};

TEST_P(UnaryTest, AgreesInBothLayouts) {
  const Unary& unary = GetParam();
  OpCase(unary.op, unary.domain).input({2, 5, 7, 3}, unary.low, unary.high).check_layouts(kTactic, kClose);
}

TEST_P(UnaryTest, AgreesOnAThousandElementsAndATail) {
  const Unary& unary = GetParam();
  OpCase(unary.op, unary.domain).input({5003}, unary.low, unary.high).check(kTactic, kClose);
}

INSTANTIATE_TEST_SUITE_P(All, UnaryTest,
                         testing::Values(Unary{"Relu"}, Unary{"LeakyRelu"}, Unary{"Elu"}, Unary{"Sigmoid", "", -90, 90},
                                         Unary{"Tanh"}, Unary{"Erf"}, Unary{"Gelu"}, Unary{"HardSigmoid"},
                                         Unary{"HardSwish"}, Unary{"Exp", "", -20, 20}, Unary{"Log", "", 0.001F, 50},
                                         Unary{"Sqrt", "", 0, 9}, Unary{"Reciprocal", "", 0.1F, 9}, Unary{"Abs"},
                                         Unary{"Neg"}, Unary{"Floor"}, Unary{"Ceil"}, Unary{"Round"}, Unary{"Softsign"},
                                         Unary{"Softplus"}, Unary{"Mish"}, Unary{"Celu"}, Unary{"Selu"},
                                         Unary{"ThresholdedRelu"}, Unary{"Swish"}, Unary{"Sign"},
                                         Unary{"Sin", "", -50, 50}, Unary{"Cos", "", -50, 50},
                                         Unary{"Silu", "saccade"}),
                         [](const auto& unary) { return std::string(unary.param.op); });

TEST(Elementwise, ExponentialsOverflowToInfinityAndVanish) {
  OpCase("Exp").input(Tensor::of<float>({4}, {-200, 88, 89, 1000})).check(kTactic, kClose);
  OpCase("Sigmoid").input(Tensor::of<float>({4}, {-200, -80, 80, 200})).check(kTactic, kClose);
}

TEST(Elementwise, ActivationsTakeTheirAttributes) {
  for (const char* op : {"Celu", "Selu", "ThresholdedRelu", "Swish", "Elu"})
    OpCase(op).input({5, 40}, -6, 6).attribute("alpha", 0.75F).check(kTactic, kClose);
  OpCase("Selu").input({5, 40}, -6, 6).attribute("gamma", 2.0F).check(kTactic, kClose);
}

TEST(Elementwise, SineOfLargeNumbers) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const char* op : {"Sin", "Cos"})
    OpCase(op).input(Tensor::of<float>({5}, {1e6F, -5e4F, 1e30F, inf, 1})).check(kTactic, kClose);
}

TEST(Elementwise, SignKeepsZeroAndNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpCase("Sign").input(Tensor::of<float>({5}, {-3, -0.0F, 0, 7, nan})).check(kTactic);
}

TEST(Elementwise, ClipTakesItsBoundsFromConstants) {
  OpCase("Clip").input({3, 40}).constant(Tensor::scalar(0.0F)).constant(Tensor::scalar(1.5F)).check(kTactic);
  OpCase("Clip").input({3, 40}).absent().constant(Tensor::scalar(0.5F)).check(kTactic);
}

TEST(Elementwise, PowersThatNeedNoLogarithm) {
  for (float exponent : {2.0F, 0.5F, -1.0F})
    OpCase("Pow").input({3, 40}, 0.1F, 4).constant(Tensor::scalar(exponent)).check(kTactic, kClose);
}

TEST(Elementwise, OtherPowers) {
  constexpr Tolerance kLogarithms{.absolute = 1e-6, .relative = 2e-5};
  for (float exponent : {3.0F, 4.0F, -2.0F, -3.0F, 1.0F})
    OpCase("Pow")
        .input(Tensor::of<float>({6}, {-3, -0.5F, 0, 0.5F, 2, 9}))
        .constant(Tensor::scalar(exponent))
        .check(kTactic, kLogarithms);
  OpCase("Pow")
      .input(Tensor::of<float>({5}, {-3, 0, 0.1F, 2, 50}))
      .constant(Tensor::scalar(2.4F))
      .check(kTactic, kLogarithms);
  EXPECT_FALSE(OpCase("Pow").input({3}).constant(Tensor::scalar(0.0F)).supports(kTactic));
  EXPECT_FALSE(OpCase("Pow").input({3}).constant(Tensor::scalar(9.5F)).supports(kTactic));
}

TEST(Elementwise, PowersOfZerosAndInfinities) {
  for (float exponent : {1.0F, -2.0F, -3.0F, 2.4F, -2.4F})
    OpCase("Pow")
        .input(Tensor::of<float>({4}, {-kInfinity, -0.0F, 0, kInfinity}))
        .constant(Tensor::scalar(exponent))
        .check(kTactic);
}

struct Broadcast {
  Shape a;
  Shape b;
};

class BroadcastTest : public testing::TestWithParam<Broadcast> {};

TEST_P(BroadcastTest, BinaryOperatorsAgreeInBothLayouts) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min"})
    OpCase(op).input(GetParam().a).input(GetParam().b, 0.5F, 3).check_layouts(kTactic);
}

TEST_P(BroadcastTest, OperandsMayLieDifferently) {
  OpCase("Sub").input(GetParam().a).input(GetParam().b).input_layout(0, Layout::kChannelsLast).check(kTactic);
  OpCase("Sub").input(GetParam().a).input(GetParam().b).output_layout(Layout::kChannelsLast).check(kTactic);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BroadcastTest,
                         testing::Values(Broadcast{{2, 6, 5, 4}, {2, 6, 5, 4}}, Broadcast{{2, 6, 5, 4}, {1, 6, 1, 1}},
                                         Broadcast{{2, 6, 5, 4}, {6, 1, 1}}, Broadcast{{1, 6, 1, 1}, {2, 6, 5, 4}},
                                         Broadcast{{2, 6, 5, 4}, {2, 1, 5, 4}}, Broadcast{{2, 6, 5, 4}, {4}},
                                         Broadcast{{2, 6, 5, 4}, {}}, Broadcast{{}, {2, 6, 5, 4}},
                                         Broadcast{{7, 1, 3}, {1, 9, 1}}, Broadcast{{1, 17, 90, 90}, {1, 17, 90, 90}},
                                         Broadcast{{2, 0, 5, 4}, {1, 1, 5, 4}}));

TEST(Elementwise, ManyOperandsInOnePass) {
  OpCase("Sum").input({2, 1}).input({1}).input({2, 9}).check(kTactic);
  OpCase("Max").input({4, 9}).input({9}).input({4, 1}).check(kTactic);
}

TEST(Elementwise, PReluSlopesPerChannel) {
  OpCase("PRelu").input({2, 6, 5, 4}).constant({6, 1, 1}, -1, 1).check_layouts(kTactic);
}

TEST(Elementwise, PostOpsFollowInTheSamePass) {
  OpCase("Add")
      .input({2, 6, 5, 4})
      .input({2, 6, 5, 4})
      .post("Sigmoid")
      .post_with_operand("Mul")
      .post("Clip", -0.5F, 0.5F)
      .check_layouts(kTactic, kClose);
}

TEST(Elementwise, RunsOnTwoThreads) {
  OpCase("Add")
      .input({1, 16, 64, 64})
      .input({1, 16, 64, 64})
      .post("Relu")
      .check_two_threads(kTactic, Layout::kChannelsLast);
}

TEST(Elementwise, RefusesIntegers) {
  const Support support = OpCase("Add")
                              .input(random_integers(DType::kInt64, {4}, 0, 9, 1))
                              .input(random_integers(DType::kInt64, {4}, 0, 9, 2))
                              .supports(kTactic);
  EXPECT_FALSE(support.yes);
  EXPECT_NE(support.reason.find("float32"), std::string::npos);
}

}  // namespace
}  // namespace saccade
