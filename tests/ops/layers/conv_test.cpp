#include "ops/run_op.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor counting_floats(const Shape& shape, float first = 1) {
  Tensor tensor(DType::kFloat32, shape);
  for (float& value : tensor.data<float>()) value = first++;
  return tensor;
}

Tensor ones(const Shape& shape) {
  Tensor tensor(DType::kFloat32, shape);
  for (float& value : tensor.data<float>()) value = 1;
  return tensor;
}

TEST(Conv, SlidesAndAddsTheBias) {
  const OpCall call{.op = "Conv",
                    .inputs = {counting_floats({1, 1, 3, 3}), ones({1, 1, 2, 2}), Tensor::of<float>({1}, {10})}};
  expect_tensor<float>(call.one(), {1, 1, 2, 2}, {22, 26, 34, 38});
}

TEST(Conv, PadsAndStrides) {
  const OpCall call{.op = "Conv",
                    .inputs = {counting_floats({1, 1, 3, 3}), ones({1, 1, 3, 3})},
                    .attributes = {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}};
  expect_tensor<float>(call.one(), {1, 1, 2, 2}, {12, 16, 24, 28});
}

TEST(Conv, SamePaddingPutsTheOddElementAtItsEnd) {
  const Tensor line = counting_floats({1, 1, 4});
  const Tensor pair = ones({1, 1, 2});
  const auto with = [&](const char* mode) {
    return OpCall{.op = "Conv", .inputs = {line, pair}, .attributes = {{"auto_pad", std::string(mode)}}}.one();
  };
  expect_tensor<float>(with("SAME_UPPER"), {1, 1, 4}, {3, 5, 7, 4});
  expect_tensor<float>(with("SAME_LOWER"), {1, 1, 4}, {1, 3, 5, 7});
  expect_tensor<float>(with("VALID"), {1, 1, 3}, {3, 5, 7});
}

TEST(Conv, DilatesThreeDimensions) {
  const OpCall call{.op = "Conv",
                    .inputs = {counting_floats({1, 1, 3, 3, 3}), ones({1, 1, 2, 2, 2})},
                    .attributes = {{"dilations", Ints{2, 2, 2}}}};
  expect_tensor<float>(call.one(), {1, 1, 1, 1, 1}, {1 + 3 + 7 + 9 + 19 + 21 + 25 + 27});
}

TEST(Conv, KeepsGroupsApart) {
  const OpCall call{.op = "Conv",
                    .inputs = {counting_floats({1, 2, 2}), Tensor::of<float>({2, 1, 1}, {10, 100})},
                    .attributes = {{"group", std::int64_t{2}}}};
  expect_tensor<float>(call.one(), {1, 2, 2}, {10, 20, 300, 400});
}

TEST(Conv, AccumulatesHalfPrecisionInFloat) {
  const Tensor input = Tensor::of<Float16>({1, 2, 1}, {Float16(2048), Float16(1)});
  const Tensor weights = Tensor::of<Float16>({1, 2, 1}, {Float16(1), Float16(3)});
  expect_tensor<Float16>(OpCall{.op = "Conv", .inputs = {input, weights}}.one(), {1, 1, 1}, {Float16(2052)});
}

TEST(Conv, OfAnEmptyBatchIsEmpty) {
  const OpCall call{.op = "Conv", .inputs = {Tensor(DType::kFloat32, {0, 1, 3}), ones({2, 1, 2})}};
  expect_tensor<float>(call.one(), {0, 2, 2}, {});
}

TEST(Conv, ReportsMismatches) {
  const auto why = [](const Tensor& input, const Tensor& weights,
                      std::vector<std::pair<std::string, Attribute>> attributes = {}) {
    return OpCall{.op = "Conv", .inputs = {input, weights}, .attributes = std::move(attributes)}.error();
  };
  EXPECT_EQ(why(ones({1, 1, 2, 2}), ones({1, 1, 3, 3})).first, ErrorCode::kInvalidFile);
  EXPECT_EQ(why(ones({1, 3, 4}), ones({1, 2, 1})).first, ErrorCode::kInvalidFile);
  EXPECT_EQ(why(ones({1, 3, 4}), ones({2, 1, 1}), {{"group", std::int64_t{3}}}).first, ErrorCode::kInvalidFile);
  EXPECT_EQ(why(ones({1, 1, 4}), ones({1, 1, 1}), {{"strides", Ints{0}}}).first, ErrorCode::kInvalidFile);
  EXPECT_EQ(why(ones({1, 1, 4}), ones({1, 1, 1}), {{"pads", Ints{-1, 0}}}).first, ErrorCode::kInvalidFile);
  EXPECT_EQ(why(ones({1, 1, 4}), ones({1, 1, 1}), {{"kernel_shape", Ints{3}}}).first, ErrorCode::kInvalidFile);
  EXPECT_EQ(why(ones({1, 1, 4}), ones({1, 1, 2}), {{"dilations", Ints{std::int64_t{1} << 62}}}).first,
            ErrorCode::kInvalidFile);
  EXPECT_EQ(why(ones({1, 1, 1, 1, 1, 1}), ones({1, 1, 1, 1, 1, 1})).first, ErrorCode::kUnsupported);
}

TEST(ConvTranspose, Spreads) {
  const OpCall call{.op = "ConvTranspose",
                    .inputs = {Tensor::of<float>({1, 1, 2}, {1, 10}), counting_floats({1, 1, 3})},
                    .attributes = {{"strides", Ints{2}}}};
  expect_tensor<float>(call.one(), {1, 1, 5}, {1, 2, 3 + 10, 20, 30});
}

TEST(ConvTranspose, PadsTheOutput) {
  const OpCall call{.op = "ConvTranspose",
                    .inputs = {Tensor::of<float>({1, 1, 2}, {1, 10}), counting_floats({1, 1, 3})},
                    .attributes = {{"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"output_padding", Ints{1}}}};
  expect_tensor<float>(call.one(), {1, 1, 4}, {2, 13, 20, 30});
}

TEST(ConvTranspose, ReadsGroupedWeights) {
  // Two groups of one channel and two filters each: the weights are channel x filter of its group.
  const OpCall call{.op = "ConvTranspose",
                    .inputs = {Tensor::of<float>({1, 2, 1}, {1, 10}), counting_floats({2, 2, 1})},
                    .attributes = {{"group", std::int64_t{2}}}};
  expect_tensor<float>(call.one(), {1, 4, 1}, {1, 2, 30, 40});
}

TEST(ConvTranspose, ReportsMismatches) {
  OpCall call{.op = "ConvTranspose", .inputs = {ones({1, 2, 2}), ones({3, 1, 1})}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
  call = {.op = "ConvTranspose", .inputs = {ones({1, 1, 1}), ones({1, 1, 2})}, .attributes = {{"pads", Ints{1, 1}}}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
