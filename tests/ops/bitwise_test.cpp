#include <cstdint>
#include <limits>

#include "ops/op_values.hpp"

namespace saccade {
namespace {

Tensor shift(const char* direction, const Tensor& value, const Tensor& by) {
  return run("BitShift", {value, by}, {{"direction", std::string(direction)}});
}

TEST(Bitwise, CombinesBits) {
  const Tensor a = Tensor::of<std::uint8_t>({2}, {0b1100, 0xFF});
  const Tensor b = Tensor::of<std::uint8_t>({2}, {0b1010, 0x0F});
  expect_tensor<std::uint8_t>(run("BitwiseAnd", {a, b}), {2}, {0b1000, 0x0F});
  expect_tensor<std::uint8_t>(run("BitwiseOr", {a, b}), {2}, {0b1110, 0xFF});
  expect_tensor<std::uint8_t>(run("BitwiseXor", {a, b}), {2}, {0b0110, 0xF0});
  expect_tensor<std::uint8_t>(run("BitwiseNot", {a}), {2}, {0b11110011, 0});
}

TEST(Bitwise, BroadcastsAndTakesSignedIntegers) {
  const Tensor a = Tensor::of<std::int16_t>({2, 1}, {-1, 6});
  const Tensor b = Tensor::of<std::int16_t>({2}, {3, -4});
  expect_tensor<std::int16_t>(run("BitwiseAnd", {a, b}), {2, 2}, {3, -4, 2, 4});
  expect_tensor<std::int64_t>(run("BitwiseNot", {Tensor::scalar<std::int64_t>(-1)}), {}, {0});
}

TEST(Bitwise, IsForIntegersOfOneType) {
  const Tensor real = Tensor::scalar(1.0F);
  const Tensor whole = Tensor::scalar<std::int32_t>(1);
  EXPECT_EQ(error_of("BitwiseNot", {real}), ErrorCode::kUnsupported);
  EXPECT_EQ(error_of("BitwiseAnd", {Tensor::scalar(true), Tensor::scalar(true)}), ErrorCode::kUnsupported);
  EXPECT_EQ(error_of("BitwiseOr", {whole, Tensor::scalar<std::int64_t>(1)}), ErrorCode::kInvalidFile);
}

TEST(BitShift, MovesUnsignedBits) {
  const Tensor a = Tensor::of<std::uint8_t>({3}, {16, 129, 1});
  const Tensor b = Tensor::of<std::uint8_t>({3}, {2, 1, 9});
  expect_tensor<std::uint8_t>(shift("RIGHT", a, b), {3}, {4, 64, 0});
  expect_tensor<std::uint8_t>(shift("LEFT", a, b), {3}, {64, 2, 0});
  EXPECT_EQ(error_of("BitShift", {a, b}), ErrorCode::kInvalidFile);
}

TEST(BitShift, KeepsTheSignOfWhatMovesRight) {
  const Tensor a = Tensor::of<std::int8_t>({4}, {-8, -8, 8, -128});
  const Tensor b = Tensor::of<std::int8_t>({4}, {1, 8, 8, 7});
  expect_tensor<std::int8_t>(shift("RIGHT", a, b), {4}, {-4, -1, 0, -1});
  expect_tensor<std::int8_t>(shift("LEFT", a, b), {4}, {-16, 0, 0, 0});
}

TEST(BitShift, ByANegativeCountMovesAllBitsOut) {
  const Tensor a = Tensor::of<std::int32_t>({2}, {-5, 5});
  const Tensor b = Tensor::scalar<std::int32_t>(-1);
  expect_tensor<std::int32_t>(shift("RIGHT", a, b), {2}, {-1, 0});
  expect_tensor<std::int32_t>(shift("LEFT", a, b), {2}, {0, 0});
  const auto high = std::numeric_limits<std::int32_t>::max();
  expect_tensor<std::int32_t>(shift("LEFT", Tensor::scalar(high), Tensor::scalar<std::int32_t>(1)), {}, {-2});
}

}  // namespace
}  // namespace saccade
