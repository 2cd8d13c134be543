#include <cstdint>
#include <limits>

#include "ops/op_values.hpp"

namespace saccade {
namespace {

TEST(Compare, OrdersNumbers) {
  const Tensor a = Tensor::of<float>({3}, {1, 2, 3});
  const Tensor b = Tensor::scalar(2.0F);
  expect_tensor<bool>(run("Equal", {a, b}), {3}, {false, true, false});
  expect_tensor<bool>(run("Greater", {a, b}), {3}, {false, false, true});
  expect_tensor<bool>(run("GreaterOrEqual", {a, b}), {3}, {false, true, true});
  expect_tensor<bool>(run("Less", {a, b}), {3}, {true, false, false});
  expect_tensor<bool>(run("LessOrEqual", {a, b}), {3}, {true, true, false});
}

TEST(Compare, NothingEqualsNan) {
  const Tensor nan = Tensor::scalar(std::numeric_limits<float>::quiet_NaN());
  expect_tensor<bool>(run("Equal", {nan, nan}), {}, {false});
  expect_tensor<bool>(run("LessOrEqual", {nan, nan}), {}, {false});
}

TEST(Compare, KeepsTheSignsOfIntegers) {
  const Tensor a = Tensor::of<std::uint64_t>({1}, {std::numeric_limits<std::uint64_t>::max()});
  expect_tensor<bool>(run("Greater", {a, Tensor::scalar<std::uint64_t>(1)}), {1}, {true});
  expect_tensor<bool>(run("Greater", {Tensor::scalar<std::int64_t>(-1), Tensor::scalar<std::int64_t>(1)}), {}, {false});
}

TEST(Compare, EqualTakesBoolsAndStrings) {
  expect_tensor<bool>(run("Equal", {Tensor::of<bool>({2}, {true, false}), Tensor::scalar(true)}), {2}, {true, false});
  expect_tensor<bool>(run("Equal", {strings({"cat", "a long name for a dog"}), strings({"cat", "dog"})}), {2},
                      {true, false});
}

TEST(Compare, CombinesBools) {
  const Tensor a = Tensor::of<bool>({2, 1}, {false, true});
  const Tensor b = Tensor::of<bool>({2}, {false, true});
  expect_tensor<bool>(run("And", {a, b}), {2, 2}, {false, false, false, true});
  expect_tensor<bool>(run("Or", {a, b}), {2, 2}, {false, true, true, true});
  expect_tensor<bool>(run("Xor", {a, b}), {2, 2}, {false, true, true, false});
}

TEST(Compare, AnyByteButZeroIsTrue) {
  Tensor two(DType::kBool, {1});
  two.raw()[0] = std::byte{2};
  expect_tensor<bool>(run("Equal", {two, Tensor::of<bool>({1}, {true})}), {1}, {true});
  expect_tensor<bool>(run("And", {two, Tensor::of<bool>({1}, {true})}), {1}, {true});
}

TEST(Compare, RejectsOtherTypes) {
  const Tensor one = Tensor::scalar(1.0F);
  EXPECT_EQ((OpCall{.op = "And", .inputs = {one, one}}.error().first), ErrorCode::kInvalidFile);
  EXPECT_EQ((OpCall{.op = "Less", .inputs = {one, Tensor::scalar(1.0)}}.error().first), ErrorCode::kInvalidFile);
  EXPECT_EQ((OpCall{.op = "Less", .inputs = {strings({"a"}), strings({"b"})}}.error().first), ErrorCode::kUnsupported);
}

TEST(Where, ChoosesElementwise) {
  const Tensor condition = Tensor::of<bool>({2, 2}, {true, false, false, true});
  const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  expect_tensor<float>(run("Where", {condition, x, Tensor::scalar(0.0F)}), {2, 2}, {1, 0, 0, 4});
  expect_tensor<float>(run("Where", {Tensor::of<bool>({2, 1}, {true, false}), x, Tensor::of<float>({2}, {8, 9})}),
                       {2, 2}, {1, 2, 8, 9});
  expect_tensor<float>(run("Where", {Tensor::scalar(false), x, Tensor::of<float>({2}, {8, 9})}), {2, 2}, {8, 9, 8, 9});
}

TEST(Where, TakesAnyElementType) {
  const Tensor got = run("Where", {Tensor::of<bool>({2}, {false, true}), strings({"a", "b"}), strings({"c", "d"})});
  EXPECT_EQ(got.strings()[0], "c");
  EXPECT_EQ(got.strings()[1], "b");
  EXPECT_EQ((OpCall{.op = "Where", .inputs = {Tensor::scalar(1.0F), got, got}}.error().first), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
