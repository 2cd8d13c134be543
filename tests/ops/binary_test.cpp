#include <cstdint>
#include <limits>

#include "ops/op_values.hpp"
#include "support/specials.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

Tensor floats(const Shape& shape, std::initializer_list<float> values) { return Tensor::of<float>(shape, values); }

TEST(Binary, CombinesTensorsOfOneShape) {
  const Tensor a = floats({4}, {1, 2, 3, 4});
  const Tensor b = floats({4}, {2, 2, -2, 8});
  expect_tensor<float>(run("Add", {a, b}), {4}, {3, 4, 1, 12});
  expect_tensor<float>(run("Sub", {a, b}), {4}, {-1, 0, 5, -4});
  expect_tensor<float>(run("Mul", {a, b}), {4}, {2, 4, -6, 32});
  expect_tensor<float>(run("Div", {a, b}), {4}, {0.5, 1, -1.5, 0.5});
}

TEST(Binary, BroadcastsEitherSide) {
  const Tensor row = floats({1, 3}, {1, 2, 3});
  const Tensor column = floats({2, 1}, {10, 20});
  expect_tensor<float>(run("Add", {row, column}), {2, 3}, {11, 12, 13, 21, 22, 23});
  expect_tensor<float>(run("Sub", {column, row}), {2, 3}, {9, 8, 7, 19, 18, 17});
  expect_tensor<float>(run("Sub", {Tensor::scalar(1.0F), row}), {1, 3}, {0, -1, -2});
  expect_tensor<float>(run("Mul", {row, Tensor::scalar(2.0F)}), {1, 3}, {2, 4, 6});
  expect_tensor<float>(run("Add", {floats({2, 1, 2}, {1, 2, 3, 4}), floats({2, 1}, {10, 20})}), {2, 2, 2},
                       {11, 12, 21, 22, 13, 14, 23, 24});
}

TEST(Binary, TakesEmptyTensors) {
  expect_tensor<float>(run("Add", {floats({0, 3}, {}), floats({1, 3}, {1, 2, 3})}), {0, 3}, {});
}

TEST(Binary, IntegersWrapAndTruncate) {
  const auto low = std::numeric_limits<std::int32_t>::min();
  const auto high = std::numeric_limits<std::int32_t>::max();
  const Tensor a = Tensor::of<std::int32_t>({4}, {high, low, -7, 7});
  const Tensor b = Tensor::of<std::int32_t>({4}, {1, -1, 2, 0});
  expect_tensor<std::int32_t>(run("Add", {a, b}), {4}, {low, high, -5, 7});
  expect_tensor<std::int32_t>(run("Div", {a, b}), {4}, {high, low, -3, 0});  // 7 / 0 is 0, not a crash
  expect_tensor<std::int32_t>(run("Mul", {a, Tensor::scalar<std::int32_t>(2)}), {4}, {-2, 0, -14, 14});
  const Tensor large = Tensor::of<std::uint16_t>({1}, {65535});
  expect_tensor<std::uint16_t>(run("Mul", {large, large}), {1}, {1});
  expect_tensor<std::int64_t>(run("Sub", {Tensor::scalar<std::int64_t>(std::numeric_limits<std::int64_t>::min()),
                                          Tensor::scalar<std::int64_t>(1)}),
                              {}, {std::numeric_limits<std::int64_t>::max()});
}

TEST(Binary, HalfPrecisionRoundsOnce) {
  const Tensor a = Tensor::of<Float16>({2}, {Float16(2048.0F), Float16(1.5F)});
  const Tensor b = Tensor::of<Float16>({2}, {Float16(1.0F), Float16(2.0F)});
  expect_tensor<Float16>(run("Add", {a, b}), {2},
                         {Float16(2048.0F), Float16(3.5F)});  // 2049 lies between two float16 numbers
  const Tensor c = Tensor::of<BFloat16>({1}, {BFloat16(3.0F)});
  expect_tensor<BFloat16>(run("Mul", {c, c}), {1}, {BFloat16(9.0F)});
}

TEST(Binary, DoublesKeepTheirPrecision) {
  expect_tensor<double>(run("Add", {Tensor::scalar(1.0), Tensor::scalar(1e-12)}), {}, {1.0 + 1e-12});
}

TEST(Binary, RunsInPlace) {
  Tensor a = floats({3}, {1, 2, 3});
  const Tensor b = floats({3}, {10, 20, 30});
  const Node node{.op = "Add"};
  const std::vector<TensorView> inputs{view_of(a), view_of(b)};
  const TensorView output = view_of(a);
  for (const char* op : {"Add", "Max", "Sum"}) find_op("", op)->reference(KernelContext(node, inputs, {&output, 1}));
  expect_tensor<float>(a, {3}, {21, 42, 63});  // 1 + 10, then at least 10, then + 10
}

TEST(Binary, ModuloFollowsPythonOrC) {
  const Tensor a = Tensor::of<std::int32_t>({6}, {-4, 7, 5, 4, -7, 8});
  const Tensor b = Tensor::of<std::int32_t>({6}, {2, -3, 8, -2, 3, 5});
  expect_tensor<std::int32_t>(run("Mod", {a, b}), {6}, {0, -2, 5, 0, 2, 3});
  expect_tensor<std::int32_t>(run("Mod", {a, b}, {{"fmod", std::int64_t{1}}}), {6}, {0, 1, 5, 0, -1, 3});
  expect_tensor<float>(
      run("Mod", {floats({2}, {-4.3F, 5.5F}), floats({2}, {2.0F, -2.0F})}, {{"fmod", std::int64_t{1}}}), {2},
      {-0.3F, 1.5F}, 1e-6);
  expect_tensor<std::int8_t>(run("Mod", {Tensor::scalar<std::int8_t>(-128), Tensor::scalar<std::int8_t>(-1)}), {}, {0});
  expect_tensor<std::int32_t>(run("Mod", {a, Tensor::scalar<std::int32_t>(0)}), {6}, {0, 0, 0, 0, 0, 0});
}

TEST(Binary, ModuloOfFloatsFloorsOrTruncates) {
  const Tensor a = floats({4}, {-5.5F, 5.5F, 4, -4});
  const Tensor b = floats({4}, {2, -2, -2, 2});
  expect_tensor<float>(run("Mod", {a, b}), {4}, {0.5F, -0.5F, 0, 0});
  expect_tensor<float>(run("Mod", {a, b}, {{"fmod", std::int64_t{1}}}), {4}, {-1.5F, 1.5F, 0, 0});
  const Tensor half = Tensor::of<Float16>({1}, {Float16(-5.5F)});
  expect_tensor<Float16>(run("Mod", {half, Tensor::of<Float16>({1}, {Float16(2.0F)})}), {1}, {Float16(0.5F)});
}

TEST(Binary, ModuloKnowsSpecialNumbers) {
  const Tensor a = floats({5}, {kInfinity, 1, 1, -1, kNan});
  const Tensor b = floats({5}, {2, 0, kInfinity, kInfinity, 1});
  expect_tensor<float>(run("Mod", {a, b}), {5}, {kNan, kNan, 1, kInfinity, kNan});
  const Tensor zero = run("Mod", {floats({2}, {0, -0.0F}), floats({2}, {-3, 3})});
  EXPECT_TRUE(std::signbit(zero.data<float>()[0]));  // a zero remainder has the divisor's sign
  EXPECT_FALSE(std::signbit(zero.data<float>()[1]));
}

TEST(Binary, SwiGluMultipliesByAGate) {
  const Tensor gate = floats({2}, {0, 1});
  const Tensor values = floats({2}, {5, 2});
  expect_tensor<float>(run("SwiGLU", {gate, values}), {2}, {0, 1.4621172F}, 1e-6);
  expect_tensor<float>(run("SwiGLU", {gate, values}, {{"alpha", 2.0F}}), {2}, {0, 1.7615942F}, 1e-6);
  EXPECT_EQ(error_of("SwiGLU", {gate, Tensor::scalar(1.0F)}), ErrorCode::kInvalidFile);
}

TEST(Binary, VariadicsTakeAnyNumber) {
  const Tensor a = floats({2, 1}, {1, 6});
  const Tensor b = floats({2}, {2, 4});
  const Tensor c = Tensor::scalar(3.0F);
  expect_tensor<float>(run("Max", {a, b, c}), {2, 2}, {3, 4, 6, 6});
  expect_tensor<float>(run("Min", {a, b, c}), {2, 2}, {1, 1, 2, 3});
  expect_tensor<float>(run("Sum", {a, b, c}), {2, 2}, {6, 8, 11, 13});
  expect_tensor<float>(run("Mean", {a, b, c}), {2, 2}, {2, 8.0F / 3, 11.0F / 3, 13.0F / 3}, 1e-6);
  expect_tensor<float>(run("Max", {a}), {2, 1}, {1, 6});
  expect_tensor<float>(run("Max", {floats({3}, {kNan, 1, kInfinity}), floats({3}, {1, kNan, 2})}), {3},
                       {kNan, kNan, kInfinity});
  expect_tensor<std::int64_t>(run("Min", {Tensor::scalar<std::int64_t>(3), Tensor::scalar<std::int64_t>(-3)}), {},
                              {-3});
}

TEST(Binary, PReluScalesNegatives) {
  const Tensor x = floats({1, 2, 2}, {-1, 2, -3, 4});
  expect_tensor<float>(run("PRelu", {x, floats({2, 1}, {0.5, 0.25})}), {1, 2, 2}, {-0.5, 2, -0.75, 4});
  EXPECT_EQ((OpCall{.op = "PRelu", .inputs = {floats({1}, {1}), floats({2}, {1, 1})}}.error().first),
            ErrorCode::kInvalidFile);
}

TEST(Binary, RejectsWhatDoesNotFit) {
  const Tensor two = floats({2}, {1, 2});
  const auto broadcast = OpCall{.op = "Add", .inputs = {two, floats({3}, {1, 2, 3})}}.error();
  EXPECT_EQ(broadcast.first, ErrorCode::kInvalidFile);
  EXPECT_NE(broadcast.second.find("shapes 2 and 3"), std::string::npos) << broadcast.second;
  EXPECT_EQ((OpCall{.op = "Add", .inputs = {two, Tensor::of<std::int64_t>({2}, {1, 2})}}.error().first),
            ErrorCode::kInvalidFile);
  EXPECT_EQ((OpCall{.op = "Add", .inputs = {two}}.error().first), ErrorCode::kInvalidFile);
  EXPECT_EQ((OpCall{.op = "Add", .inputs = {Tensor::scalar(true), Tensor::scalar(true)}}.error().first),
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace saccade
