#include <cstring>
#include <limits>

#include "op_case/every_backend.hpp"
#include "op_case/op_samples.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

constexpr Tactics kElements{.cpu = "vector.elementwise", .cuda = "elements"};

// Vector functions are within a few units in the last place of the C library's.
constexpr Tolerances kClose{.cpu = {.absolute = 1e-6, .relative = 2e-6}, .cuda = {.absolute = 1e-5, .relative = 1e-5}};

struct Unary {
  const char* op;
  const char* domain = "";
  float low = -6;
  float high = 6;
};

constexpr Unary kFunctions[] = {{"Relu"},
                                {"LeakyRelu"},
                                {"Elu"},
                                {"Sigmoid", "", -90, 90},
                                {"Tanh"},
                                {"Erf"},
                                {"Gelu"},
                                {"HardSigmoid"},
                                {"HardSwish"},
                                {"Exp", "", -20, 20},
                                {"Log", "", 0.001F, 50},
                                {"Sqrt", "", 0, 9},
                                {"Reciprocal", "", 0.1F, 9},
                                {"Abs"},
                                {"Neg"},
                                {"Floor"},
                                {"Ceil"},
                                {"Round"},
                                {"Softsign"},
                                {"Softplus"},
                                {"Mish"},
                                {"Celu"},
                                {"Selu"},
                                {"ThresholdedRelu"},
                                {"Swish"},
                                {"Sign"},
                                {"Sin", "", -50, 50},
                                {"Cos", "", -50, 50},
                                {"Silu", "saccade"}};

struct Broadcast {
  Shape a;
  Shape b;
};

const Broadcast kBroadcasts[] = {{{2, 6, 5, 4}, {2, 6, 5, 4}}, {{2, 6, 5, 4}, {1, 6, 1, 1}},
                                 {{2, 6, 5, 4}, {6, 1, 1}},    {{1, 6, 1, 1}, {2, 6, 5, 4}},
                                 {{2, 6, 5, 4}, {2, 1, 5, 4}}, {{2, 6, 5, 4}, {4}},
                                 {{2, 6, 5, 4}, {}},           {{}, {2, 6, 5, 4}},
                                 {{7, 1, 3}, {1, 9, 1}},       {{1, 17, 90, 90}, {1, 17, 90, 90}},
                                 {{2, 0, 5, 4}, {1, 1, 5, 4}}};

SACCADE_EVERY_BACKEND(Functions);
SACCADE_EVERY_BACKEND(Elementwise);
SACCADE_EVERY_BACKEND(Broadcasts);

TEST_P(Functions, AgreeInBothLayouts) {
  for (const Unary& unary : kFunctions)
    OpCase(unary.op, unary.domain)
        .input({2, 5, 7, 3}, unary.low, unary.high)
        .check_layouts(by(kElements), within(kClose));
}

TEST_P(Functions, AgreeOnThousandsOfElementsAndATail) {
  for (const Unary& unary : kFunctions)
    OpCase(unary.op, unary.domain).input({5003}, unary.low, unary.high).check(by(kElements), within(kClose));
}

TEST_P(Elementwise, ExponentialsOverflowToInfinityAndVanish) {
  OpCase("Exp").input(Tensor::of<float>({4}, {-200, 88, 89, 1000})).check(by(kElements), within(kClose));
  OpCase("Sigmoid").input(Tensor::of<float>({4}, {-200, -80, 80, 200})).check(by(kElements), within(kClose));
}

TEST_P(Elementwise, ActivationsTakeTheirAttributes) {
  for (const char* op : {"Celu", "Selu", "ThresholdedRelu", "Swish", "Elu"})
    OpCase(op).input({5, 40}, -6, 6).attribute("alpha", 0.75F).check(by(kElements), within(kClose));
  OpCase("Selu").input({5, 40}, -6, 6).attribute("gamma", 2.0F).check(by(kElements), within(kClose));
}

TEST_P(Elementwise, SineOfLargeNumbers) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const char* op : {"Sin", "Cos"})
    OpCase(op).input(Tensor::of<float>({5}, {1e6F, -5e4F, 1e30F, inf, 1})).check(by(kElements), within(kClose));
}

TEST_P(Elementwise, SignKeepsZeroAndNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpCase("Sign").input(Tensor::of<float>({5}, {-3, -0.0F, 0, 7, nan})).check(by(kElements));
}

TEST_P(Elementwise, ClipTakesItsBoundsFromConstants) {
  OpCase("Clip").input({3, 40}).constant(Tensor::scalar(0.0F)).constant(Tensor::scalar(1.5F)).check(by(kElements));
  OpCase("Clip").input({3, 40}).absent().constant(Tensor::scalar(0.5F)).check(by(kElements));
}

TEST_P(Elementwise, PowersThatNeedNoLogarithm) {
  for (float exponent : {2.0F, 0.5F, -1.0F})
    OpCase("Pow").input({3, 40}, 0.1F, 4).constant(Tensor::scalar(exponent)).check(by(kElements), within(kClose));
}

TEST_P(Elementwise, OtherPowers) {
  constexpr Tolerance kLogarithms{.absolute = 1e-6, .relative = 2e-5};
  for (float exponent : {3.0F, 4.0F, -2.0F, -3.0F, 1.0F})
    OpCase("Pow")
        .input(Tensor::of<float>({6}, {-3, -0.5F, 0, 0.5F, 2, 9}))
        .constant(Tensor::scalar(exponent))
        .check(by(kElements), kLogarithms);
  OpCase("Pow")
      .input(Tensor::of<float>({5}, {-3, 0, 0.1F, 2, 50}))
      .constant(Tensor::scalar(2.4F))
      .check(by(kElements), kLogarithms);
}

TEST_P(Elementwise, PowersOfZerosAndInfinities) {
  for (float exponent : {1.0F, -2.0F, -3.0F, 2.4F, -2.4F})
    OpCase("Pow")
        .input(Tensor::of<float>({4}, {-kInfinity, -0.0F, 0, kInfinity}))
        .constant(Tensor::scalar(exponent))
        .check(by(kElements));
}

TEST_P(Broadcasts, BinaryOperatorsAgreeInBothLayouts) {
  for (const auto& [a, b] : kBroadcasts)
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min"})
      OpCase(op).input(a).input(b, 0.5F, 3).check_layouts(by(kElements));
}

TEST_P(Broadcasts, OperandsMayLieDifferently) {
  for (const auto& [a, b] : kBroadcasts) {
    OpCase("Sub").input(a).input(b).input_layout(0, Layout::kChannelsLast).check(by(kElements));
    OpCase("Sub").input(a).input(b).output_layout(Layout::kChannelsLast).check(by(kElements));
  }
}

TEST_P(Elementwise, ManyOperandsInOnePass) {
  OpCase("Sum").input({2, 1}).input({1}).input({2, 9}).check(by(kElements));
  OpCase("Max").input({4, 9}).input({9}).input({4, 1}).check(by(kElements));
}

TEST_P(Elementwise, PReluSlopesPerChannel) {
  OpCase("PRelu").input({2, 6, 5, 4}).constant({6, 1, 1}, -1, 1).check_layouts(by(kElements));
}

TEST_P(Elementwise, PostOpsFollowInTheSamePass) {
  OpCase("Add")
      .input({2, 6, 5, 4})
      .input({2, 6, 5, 4})
      .post("Sigmoid")
      .post_with_operand("Mul")
      .post("Clip", -0.5F, 0.5F)
      .check_layouts(by(kElements), within(kClose));
}

TEST_P(Elementwise, ApplyFunctions) {
  for (const char* op :
       {"Abs",  "Ceil", "Cos",  "Elu",   "Erf",  "Exp",     "Floor", "HardSigmoid", "HardSwish", "LeakyRelu",
        "Mish", "Neg",  "Relu", "Round", "Selu", "Sigmoid", "Sign",  "Sin",         "Softplus",  "Tanh"})
    OpCase(op).input({2, 3, 5, 7}).check_layouts(by("", "elements"));
  for (const char* op : {"Log", "Sqrt", "Reciprocal"}) OpCase(op).input({1000}, 0.5F, 9).check(by("", "elements"));
  OpCase("Silu", "saccade").input({3, 300}).check(by("", "elements"));
}

TEST_P(Elementwise, ComputeHalfPrecisionInFloat) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat16 ? Tolerance{2e-3, 2e-3} : Tolerance{1e-2, 1e-2};
    OpCase("Sigmoid").input(dtype, {3, 100}).check(by("", "elements"), tolerance);
    OpCase("Add").input(dtype, {3, 100}).input(dtype, {100}).check(by("", "elements"), tolerance);
  }
}

TEST_P(Elementwise, BroadcastSmallOperands) {
  OpCase("Add").input({2, 3, 4, 5}).input({3, 1, 5}).check_layouts(by("", "elements"));
  OpCase("Mul").input({1, 5}).input({4, 1}).check(by("", "elements"));
  OpCase("Div").input({2, 1, 3}).constant({1}, 1, 2).check(by("", "elements"));
  OpCase("Max").input({4, 5}).input({5}).input({4, 1}).check(by("", "elements"));
  OpCase("Where").input(DType::kBool, {4, 1}).input({5}).input({4, 5}).check(by("", "elements"));
  OpCase("Pow").input({4, 5}, 0.1F, 2).constant({1}).check(by("", "elements"));
}

TEST_P(Elementwise, KeepNumbersThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor odd = Tensor::of<float>({6}, {nan, inf, -inf, -0.0F, 1, -1});
  for (const char* op : {"Relu", "Sign", "Clip", "Abs"}) OpCase(op).input(odd).check(by("", "elements"));
  OpCase("Max").input(odd).input(Tensor::of<float>({6}, {1, nan, nan, 0, nan, 2})).check(by("", "elements"));
  OpCase("Cast").attribute("to", std::int64_t{3}).input(odd).check(by("", "elements"));
  OpCase("IsNaN").input(odd).check(by("", "elements"));
}

TEST_P(Elementwise, WrapIntegers) {
  const Tensor a = Tensor::of<std::int8_t>({6}, {127, -128, -128, 7, -7, 0});
  const Tensor b = Tensor::of<std::int8_t>({6}, {1, 1, -1, 0, 3, 5});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Less", "Equal"})
    OpCase(op).input(a).input(b).check(by("", "elements"));
  OpCase("Add").input(DType::kInt64, {4, 5}, -9, 9).input(DType::kInt64, {5}, -9, 9).check(by("", "elements"));
}

/// NUMBERS in DTYPE, where they wrap around.
Tensor wrapped_numbers(DType dtype, const std::vector<std::int64_t>& numbers) {
  Tensor tensor(dtype, {static_cast<std::int64_t>(numbers.size())});
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(static_cast<std::byte*>(tensor.raw()) + i * bits_of(dtype) / 8, &numbers[i], bits_of(dtype) / 8);
  return tensor;
}

constexpr DType kIntegers[] = {DType::kInt8,  DType::kUInt8,  DType::kInt16, DType::kUInt16,
                               DType::kInt32, DType::kUInt32, DType::kInt64, DType::kUInt64};

TEST_P(Elementwise, ShiftBitsOfEveryWidth) {
  for (const DType dtype : kIntegers)
    for (const char* direction : {"LEFT", "RIGHT"})
      OpCase("BitShift")
          .attribute("direction", std::string(direction))
          .input(wrapped_numbers(dtype, {-1, -1, -1, -1, 0x7f, -128, 1, 1, -2, 5}))
          .input(wrapped_numbers(dtype, {0, 1, 7, 8, 1, 1, 31, 63, -1, 64}))
          .check(by("", "elements"), kExact);
  OpCase("BitShift")
      .attribute("direction", std::string("RIGHT"))
      .input(Tensor::of<std::int8_t>({3}, {-128, -128, 64}))
      .input(Tensor::of<std::int8_t>({3}, {3, 8, 6}))
      .expect(Tensor::of<std::int8_t>({3}, {-16, -1, 1}))
      .check(by("", "elements"));
}

TEST_P(Elementwise, InvertBitsOfEveryWidth) {
  for (const DType dtype : kIntegers)
    OpCase("BitwiseNot").input(wrapped_numbers(dtype, {0, -1, 1, 0x7f, -128, 12})).check(by("", "elements"), kExact);
  OpCase("BitwiseNot")
      .input(Tensor::of<std::uint8_t>({3}, {0, 255, 0b1010}))
      .expect(Tensor::of<std::uint8_t>({3}, {255, 0, 0b11110101}))
      .check(by("", "elements"));
}

TEST_P(Elementwise, FindInfinitiesOfEitherSign) {
  const Tensor odd = Tensor::of<float>({6}, {kNan, kInfinity, -kInfinity, -0.0F, 3e38F, -1});
  for (const std::int64_t negative : {0, 1})
    for (const std::int64_t positive : {0, 1})
      OpCase("IsInf")
          .attribute("detect_negative", negative)
          .attribute("detect_positive", positive)
          .input(odd)
          .expect(Tensor::of<bool>({6}, {false, positive != 0, negative != 0, false, false, false}))
          .check(by("", "elements"));
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat64})
    OpCase("IsInf").input(samples::converted(odd, dtype)).check(by("", "elements"));
}

TEST_P(Elementwise, MeanOfAnyNumberOfOperands) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = tolerance_in(dtype, {1e-6, 1e-6});
    OpCase("Mean").input(dtype, {3, 7}).check(by("", "elements"), tolerance);
    OpCase("Mean").input(dtype, {3, 1}).input(dtype, {7}).check(by("", "elements"), tolerance);
    OpCase("Mean").input(dtype, {3, 7}).input(dtype, {7}).input(dtype, {3, 1}).check(by("", "elements"), tolerance);
  }
  OpCase("Mean")
      .input(Tensor::of<float>({3}, {1, kNan, kInfinity}))
      .input(Tensor::of<float>({3}, {2, 1, -kInfinity}))
      .expect(Tensor::of<float>({3}, {1.5F, kNan, kNan}))
      .check(by("", "elements"));
}

TEST_P(Elementwise, GateBySwiGlu) {
  for (const float alpha : {1.0F, 1.7F})
    OpCase("SwiGLU").attribute("alpha", alpha).input({3, 7}, -9, 9).input({3, 7}).check(by("", "elements"));
  OpCase("SwiGLU").input(DType::kFloat64, {3, 7}).input(DType::kFloat64, {3, 7}).check(by("", "elements"));
}

TEST_P(Elementwise, CastAsOnnxDoes) {
  const Tensor reals = Tensor::of<float>({7}, {1e20F, -1e20F, 2.7F, -2.7F, 0, 255.5F, 1e-9F});
  for (std::int64_t to : {1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 16})
    OpCase("Cast").attribute("to", to).input(reals).check(by("", "elements"), {1e-3, 1e-2});
  OpCase("Cast").attribute("to", std::int64_t{1}).input(DType::kInt64, {50}, -1000, 1000).check(by("", "elements"));
}

TEST_P(Elementwise, PostOpsOfABroadcast) {
  OpCase("Add")
      .input({2, 8, 4, 4})
      .input({8, 1, 1})
      .post("Silu")
      .post_with_operand("Mul")
      .post("Clip", -0.5F, 0.5F)
      .check_layouts(by("", "elements"));
}

}  // namespace
}  // namespace saccade
