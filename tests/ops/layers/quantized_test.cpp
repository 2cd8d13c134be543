#include <limits>

#include "ops/run_op.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

using Bytes = std::initializer_list<std::uint8_t>;
using Ints = std::vector<std::int64_t>;

Tensor bytes(const Shape& shape, Bytes values) { return Tensor::of<std::uint8_t>(shape, values); }
Tensor scale(float value) { return Tensor::scalar(value); }
Tensor zero(std::uint8_t value) { return Tensor::scalar(value); }

TEST(QuantizeLinear, RoundsHalfToEvenAndSaturates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const OpCall call{.op = "QuantizeLinear",
                    .inputs = {Tensor::of<float>({7}, {1, 3, 5, -1, 1e30F, -1e30F, nan}), scale(2), zero(10)}};
  expect_tensor<std::uint8_t>(call.one(), {7}, {10, 12, 12, 10, 255, 0, 0});
}

TEST(QuantizeLinear, HasAScaleForEverySliceOfItsAxis) {
  const OpCall call{.op = "QuantizeLinear",
                    .inputs = {Tensor::of<float>({2, 2}, {10, 10, 10, 10}), Tensor::of<float>({2}, {1, 10}),
                               Tensor::of<std::int8_t>({2}, {0, -5})}};
  expect_tensor<std::int8_t>(call.one(), {2, 2}, {10, -4, 10, -4});
}

TEST(QuantizeLinear, ReportsMismatches) {
  const Tensor input = Tensor::of<float>({3}, {1, 2, 3});
  const auto why = [&](const Tensor& scales, const Tensor& zeros,
                       std::vector<std::pair<std::string, Attribute>> attributes) {
    return OpCall{.op = "QuantizeLinear", .inputs = {input, scales, zeros}, .attributes = std::move(attributes)}
        .error()
        .first;
  };
  const std::pair<std::string, Attribute> first_axis{"axis", std::int64_t{0}};
  EXPECT_EQ(why(Tensor::of<float>({2}, {1, 2}), {}, {first_axis}), ErrorCode::kUnsupported);
  EXPECT_EQ(why(Tensor::of<float>({3}, {1, 2, 3}), {}, {{"axis", std::int64_t{3}}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(why(scale(1), {}, {first_axis, {"block_size", std::int64_t{2}}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(why(scale(1), {}, {first_axis, {"block_size", std::int64_t{-2}}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(why(scale(1), zero(1), {{"output_dtype", std::int64_t{3}}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(why(scale(1), {}, {{"output_dtype", std::int64_t{17}}}), ErrorCode::kUnsupported);
}

TEST(QuantizeLinear, HasAScaleForEveryBlockOfItsAxis) {
  const std::pair<std::string, Attribute> pairs{"block_size", std::int64_t{2}};
  const Tensor scales = Tensor::of<float>({2, 2}, {1, 2, 5, 10});
  OpCall call{.op = "QuantizeLinear",
              .inputs = {Tensor::of<float>({2, 3}, {2, 4, 6, 10, 20, 30}), scales},
              .attributes = {pairs}};
  expect_tensor<std::uint8_t>(call.one(), {2, 3}, {2, 4, 3, 2, 4, 3});
  call.inputs = {Tensor::of<float>({3, 2}, {10, 10, 20, 20, 30, 30}), scales, bytes({2, 2}, {0, 1, 2, 3})};
  call.attributes = {pairs, {"axis", std::int64_t{0}}};
  expect_tensor<std::uint8_t>(call.one(), {3, 2}, {10, 5 + 1, 20, 10 + 1, 6 + 2, 3 + 3});
  call.op = "DequantizeLinear";
  call.inputs[0] = bytes({3, 2}, {10, 6, 20, 11, 8, 6});
  expect_tensor<float>(call.one(), {3, 2}, {10, 10, 20, 20, 30, 30});
}

TEST(QuantizeLinear, DividesInThePrecisionOfItsScale) {
  // In float16, 0.4 is a little less; the quotient 2.5006 is 2.5 in float16, which is rounded half to even.
  OpCall call{.op = "QuantizeLinear", .inputs = {Tensor::of<float>({1}, {1}), Tensor::scalar(Float16(0.4F)), zero(0)}};
  expect_tensor<std::uint8_t>(call.one(), {1}, {2});
  call.attributes = {{"precision", std::int64_t{1}}};
  expect_tensor<std::uint8_t>(call.one(), {1}, {3});
}

TEST(DynamicQuantizeLinear, SpansTheRangeOfItsInputAndZero) {
  const auto results =
      OpCall{.op = "DynamicQuantizeLinear", .inputs = {Tensor::of<float>({4}, {0, 2, -3, 252})}, .outputs = 3}.run();
  expect_tensor<std::uint8_t>(results[0], {4}, {3, 5, 0, 255});
  expect_tensor<float>(results[1], {}, {1});
  expect_tensor<std::uint8_t>(results[2], {}, {3});
}

TEST(DynamicQuantizeLinear, TakesNothingButZerosAndNumbersBeyondAll) {
  const auto of = [](std::initializer_list<float> values) {
    return OpCall{.op = "DynamicQuantizeLinear", .inputs = {Tensor::of<float>({2}, values)}, .outputs = 3}.run();
  };
  const auto zeros = of({0, 0});
  expect_tensor<std::uint8_t>(zeros[0], {2}, {0, 0});
  expect_tensor<float>(zeros[1], {}, {1.0F / 255});
  expect_tensor<std::uint8_t>(of({-INFINITY, std::nanf("")})[2], {}, {0});
}

TEST(DequantizeLinear, TakesAwayTheZeroPoint) {
  OpCall call{.op = "DequantizeLinear", .inputs = {bytes({2}, {0, 255}), scale(0.5F), zero(128)}};
  expect_tensor<float>(call.one(), {2}, {-64, 63.5F});
  call.inputs = {Tensor::of<std::int32_t>({1}, {std::numeric_limits<std::int32_t>::min()}), scale(1),
                 Tensor::scalar<std::int32_t>(1)};
  expect_tensor<float>(call.one(), {1}, {-2147483648.0F});
}

TEST(QLinearConv, PadsWithTheZeroPoint) {
  // Real numbers: input 1 2, weights 1 1, padding 0, bias 4; the output's step is 0.5.
  const OpCall call{
      .op = "QLinearConv",
      .inputs = {bytes({1, 1, 2}, {11, 12}), scale(1), zero(10), Tensor::of<std::int8_t>({1, 1, 2}, {2, 2}),
                 Tensor::of<float>({1}, {0.5F}), Tensor::of<std::int8_t>({1}, {0}), scale(0.5F), zero(3),
                 Tensor::of<std::int32_t>({1}, {8})},
      .attributes = {{"pads", Ints{1, 1}}}};
  expect_tensor<std::uint8_t>(call.one(), {1, 1, 3}, {3 + 10, 3 + 14, 3 + 12});
}

TEST(QLinearConv, ScalesEveryFilter) {
  const OpCall call{
      .op = "QLinearConv",
      .inputs = {bytes({1, 1, 1}, {10}), scale(1), zero(0), Tensor::of<std::int8_t>({2, 1, 1}, {1, 1}),
                 Tensor::of<float>({2}, {1, 2}), Tensor::of<std::int8_t>({2}, {0, -1}), scale(1), zero(0)}};
  expect_tensor<std::uint8_t>(call.one(), {1, 2, 1}, {10, 40});
}

TEST(QLinearConv, NeedsABiasOfItsLength) {
  const OpCall call{
      .op = "QLinearConv",
      .inputs = {bytes({1, 1, 1}, {10}), scale(1), zero(0), Tensor::of<std::int8_t>({2, 1, 1}, {1, 1}), scale(1),
                 Tensor::scalar<std::int8_t>(0), scale(1), zero(0), Tensor::of<std::int32_t>({1}, {8})}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

TEST(ConvInteger, KeepsInt32Accumulators) {
  const OpCall call{.op = "ConvInteger", .inputs = {bytes({1, 2, 1}, {255, 255}), bytes({1, 2, 1}, {255, 1}), zero(5)}};
  expect_tensor<std::int32_t>(call.one(), {1, 1, 1}, {250 * 256});
}

TEST(QLinearMatMul, Requantises) {
  const OpCall call{.op = "QLinearMatMul",
                    .inputs = {bytes({1, 2}, {11, 12}), scale(1), zero(10), bytes({2, 1}, {4, 5}), scale(2), zero(3),
                               scale(4), zero(100)}};
  expect_tensor<std::uint8_t>(call.one(), {1, 1}, {100 + (1 * 1 + 2 * 2) * 2 / 4});
}

TEST(QLinearMatMul, SumsNothingToItsZeroPoint) {
  const OpCall call{.op = "QLinearMatMul",
                    .inputs = {Tensor(DType::kUInt8, {2, 0}), scale(1), zero(10), Tensor(DType::kUInt8, {0, 2}),
                               scale(2), zero(3), scale(4), zero(100)}};
  expect_tensor<std::uint8_t>(call.one(), {2, 2}, {100, 100, 100, 100});
}

TEST(MatMulInteger, TakesAZeroPointAColumn) {
  const OpCall call{.op = "MatMulInteger",
                    .inputs = {bytes({1, 1}, {10}), Tensor::of<std::int8_t>({1, 2}, {1, 1}), Tensor(),
                               Tensor::of<std::int8_t>({2}, {0, 3})}};
  expect_tensor<std::int32_t>(call.one(), {1, 2}, {10, -20});
}

OpCall contrib(const std::string& op, std::vector<Tensor> inputs) {
  return {.op = op, .inputs = std::move(inputs), .domain = "com.microsoft"};
}

TEST(QLinearAdd, BroadcastsAndRequantises) {
  const OpCall call = contrib("QLinearAdd", {bytes({2, 1}, {1, 2}), scale(1), zero(0), bytes({2}, {10, 20}), scale(2),
                                             zero(5), scale(1), zero(50)});
  expect_tensor<std::uint8_t>(call.one(), {2, 2}, {61, 81, 62, 82});
}

TEST(QLinearMul, Saturates) {
  const OpCall call =
      contrib("QLinearMul", {bytes({2}, {3, 200}), scale(1), {}, bytes({1}, {4}), scale(1), {}, scale(0.5F), zero(1)});
  expect_tensor<std::uint8_t>(call.one(), {2}, {25, 255});
}

TEST(QLinearSigmoid, IsAHalfAtZero) {
  const OpCall call =
      contrib("QLinearSigmoid", {bytes({2}, {10, 255}), scale(1), zero(10), scale(1 / 128.0F), zero(0)});
  expect_tensor<std::uint8_t>(call.one(), {2}, {64, 128});
}

TEST(QLinearLeakyRelu, BendsBelowTheZeroPoint) {
  OpCall call = contrib("QLinearLeakyRelu", {bytes({2}, {0, 120}), scale(1), zero(100), scale(1), zero(100)});
  call.attributes = {{"alpha", 0.5F}};
  expect_tensor<std::uint8_t>(call.one(), {2}, {50, 120});
}

TEST(QLinearPools, AverageRealNumbers) {
  const std::vector<Tensor> inputs = {bytes({1, 1, 1, 2}, {10, 20}), scale(1), zero(0), scale(5), zero(2)};
  expect_tensor<std::uint8_t>(contrib("QLinearGlobalAveragePool", inputs).one(), {1, 1, 1, 1}, {5});
  OpCall pool = contrib("QLinearAveragePool", inputs);
  pool.attributes = {{"kernel_shape", Ints{1, 1}}};
  expect_tensor<std::uint8_t>(pool.one(), {1, 1, 1, 2}, {4, 6});
  pool.attributes = {{"kernel_shape", Ints{1, 1}}, {"channels_last", std::int64_t{1}}};
  EXPECT_EQ(pool.error().first, ErrorCode::kUnsupported);
}

TEST(QLinearConcat, BringsOperandsToOneScale) {
  OpCall call = contrib(
      "QLinearConcat", {scale(2), zero(1), bytes({1}, {10}), scale(1), zero(0), bytes({2}, {5, 6}), scale(4), zero(5)});
  call.attributes = {{"axis", std::int64_t{0}}};
  expect_tensor<std::uint8_t>(call.one(), {3}, {6, 1, 3});
  call.inputs.pop_back();
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

TEST(QLinearAdd, RefusesMixedTypes) {
  const OpCall call = contrib("QLinearAdd", {bytes({1}, {1}), scale(1), zero(0), Tensor::of<std::int8_t>({1}, {1}),
                                             scale(1), Tensor::scalar<std::int8_t>(0), scale(1), zero(0)});
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
