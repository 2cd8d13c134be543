#include <cstdint>
#include <limits>

#include "ops/op_values.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

// ONNX's type numbers.
enum Onnx : std::int64_t {
  kToFloat = 1,
  kToUInt8 = 2,
  kToInt8 = 3,
  kToInt32 = 6,
  kToInt64 = 7,
  kToString = 8,
  kToBool = 9,
  kToHalf = 10,
  kToDouble = 11,
  kToUInt64 = 13,
  kToBFloat16 = 16
};

Tensor cast(const Tensor& x, std::int64_t to) {
  return OpCall{.op = "Cast", .inputs = {x}, .attributes = {{"to", to}}}.one();
}

TEST(Cast, FloatsTruncateAndSaturate) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::of<float>({6}, {1.9F, -1.9F, 300, -300, inf, nan});
  expect_tensor<std::int8_t>(cast(x, kToInt8), {6}, {1, -1, 127, -128, 127, 0});
  expect_tensor<std::uint8_t>(cast(x, kToUInt8), {6}, {1, 0, 255, 0, 255, 0});
  const auto high = std::numeric_limits<std::int64_t>::max();
  expect_tensor<std::int64_t>(cast(x, kToInt64), {6}, {1, -1, 300, -300, high, 0});
  const Tensor large = Tensor::of<double>({2}, {0x1p63, -0x1p63});
  expect_tensor<std::int64_t>(cast(large, kToInt64), {2}, {high, std::numeric_limits<std::int64_t>::min()});
  expect_tensor<std::uint64_t>(cast(large, kToUInt64), {2}, {std::uint64_t{1} << 63, 0});
}

TEST(Cast, IntegersKeepTheirLowBits) {
  const Tensor x = Tensor::of<std::int64_t>({3}, {-1, 257, (1LL << 53) + 1});
  expect_tensor<std::uint8_t>(cast(x, kToUInt8), {3}, {255, 1, 1});
  expect_tensor<std::int32_t>(cast(x, kToInt32), {3}, {-1, 257, 1});
  expect_tensor<std::uint64_t>(cast(x, kToUInt64), {3},
                               {std::numeric_limits<std::uint64_t>::max(), 257, (1ULL << 53) + 1});
  const Tensor most = Tensor::of<std::uint64_t>({1}, {std::numeric_limits<std::uint64_t>::max()});
  expect_tensor<float>(cast(most, kToFloat), {1}, {0x1p64F});
}

TEST(Cast, BoolsAreZeroOrOne) {
  const Tensor x = Tensor::of<float>({4}, {0, -0.0F, 0.1F, std::numeric_limits<float>::quiet_NaN()});
  expect_tensor<bool>(cast(x, kToBool), {4}, {false, false, true, true});
  expect_tensor<float>(cast(Tensor::of<bool>({2}, {true, false}), kToFloat), {2}, {1, 0});
  Tensor two(DType::kBool, {1});
  two.raw()[0] = std::byte{2};
  expect_tensor<std::int32_t>(cast(two, kToInt32), {1}, {1});
}

TEST(Cast, HalfPrecisionRoundsToEven) {
  const Tensor x = Tensor::of<float>({4}, {2049, 2051, 1e6F, 1e-8F});
  const float inf = std::numeric_limits<float>::infinity();
  expect_tensor<float>(cast(cast(x, kToHalf), kToFloat), {4}, {2048, 2052, inf, 0});
  expect_tensor<float>(cast(cast(Tensor::of<float>({2}, {257, 259}), kToBFloat16), kToFloat), {2}, {256, 260});
  expect_tensor<double>(cast(Tensor::of<Float16>({1}, {Float16(0.5F)}), kToDouble), {1}, {0.5});
}

TEST(Cast, DoublesRoundToHalfPrecisionOnce) {
  // Just above and below the midpoint of two float16 numbers: via float32, both would become the midpoint.
  const Tensor x = Tensor::of<double>({3}, {2049 + 1e-9, 2051 - 1e-9, -2049 - 1e-9});
  expect_tensor<float>(cast(cast(x, kToHalf), kToFloat), {3}, {2050, 2050, -2050});
  expect_tensor<float>(cast(cast(Tensor::of<double>({2}, {257 + 1e-9, 1e300}), kToBFloat16), kToFloat), {2},
                       {258, std::numeric_limits<float>::infinity()});
}

TEST(Cast, CoversMoreThanOneBlock) {
  Tensor x(DType::kInt32, {1000});
  for (int i = 0; i < 1000; ++i) x.data<std::int32_t>()[static_cast<std::size_t>(i)] = i;
  const Tensor y = cast(x, kToFloat);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(y.data<float>()[static_cast<std::size_t>(i)], static_cast<float>(i));
}

TEST(Cast, RejectsOtherTypes) {
  const auto error = [](std::int64_t to) {
    return OpCall{.op = "Cast", .inputs = {Tensor::scalar(1.0F)}, .attributes = {{"to", to}}}.error().first;
  };
  for (const std::int64_t to : {std::int64_t{kToString}, std::int64_t{0}, std::int64_t{-1}, std::int64_t{1000}})
    EXPECT_EQ(error(to), ErrorCode::kUnsupported);
}

TEST(BitCast, KeepsTheBits) {
  const auto bit_cast = [](const Tensor& x, std::int64_t to) { return run("BitCast", {x}, {{"to", to}}); };
  expect_tensor<std::int32_t>(bit_cast(Tensor::of<float>({2}, {1, -0.0F}), kToInt32), {2},
                              {0x3F800000, std::numeric_limits<std::int32_t>::min()});
  expect_tensor<std::uint8_t>(bit_cast(Tensor::of<std::int8_t>({1, 1}, {-1}), kToUInt8), {1, 1}, {255});
  expect_tensor<BFloat16>(bit_cast(Tensor::of<Float16>({1}, {Float16::from_bits(0x3F80)}), kToBFloat16), {1},
                          {BFloat16(1.0F)});
  for (const std::int64_t to : {kToInt64, kToString, kToBool})
    EXPECT_EQ(error_of("BitCast", {Tensor::scalar(1.0F)}, {{"to", to}}), ErrorCode::kInvalidFile);
}

TEST(CastLike, TakesTheSecondInputsType) {
  const OpCall call{.op = "CastLike", .inputs = {Tensor::of<float>({2}, {1.5F, -2}), Tensor::scalar(std::int32_t{0})}};
  expect_tensor<std::int32_t>(call.one(), {2}, {1, -2});
}

}  // namespace
}  // namespace saccade
