#include "ops/run_op.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

using Ints = std::vector<std::int64_t>;

const Tensor kSquare = Tensor::of<float>({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});

TEST(MaxPool, FindsValuesAndIndices) {
  const auto results = OpCall{.op = "MaxPool",
                              .inputs = {Tensor::of<float>({1, 2, 3}, {1, 5, 5, 9, 8, 7})},
                              .attributes = {{"kernel_shape", Ints{2}}},
                              .outputs = 2}
                           .run();
  expect_tensor<float>(results[0], {1, 2, 2}, {5, 5, 9, 8});
  expect_tensor<std::int64_t>(results[1], {1, 2, 2}, {1, 1, 3, 4});
}

TEST(MaxPool, NeverChoosesThePadding) {
  const OpCall call{.op = "MaxPool",
                    .inputs = {Tensor::of<std::int8_t>({1, 1, 2}, {-5, -6})},
                    .attributes = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}}};
  expect_tensor<std::int8_t>(call.one(), {1, 1, 3}, {-5, -5, -6});
}

TEST(MaxPool, CeilModeKeepsWindowsThatStartInside) {
  const OpCall call{
      .op = "MaxPool",
      .inputs = {kSquare},
      .attributes = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}}};
  expect_tensor<float>(call.one(), {1, 1, 2, 2}, {5, 6, 8, 9});
}

TEST(MaxPool, CeilModeDropsWindowsThatStartInThePadding) {
  const OpCall call{
      .op = "MaxPool",
      .inputs = {Tensor::of<float>({1, 1, 2}, {1, 2})},
      .attributes = {
          {"kernel_shape", Ints{2}}, {"strides", Ints{3}}, {"pads", Ints{1, 1}}, {"ceil_mode", std::int64_t{1}}}};
  expect_tensor<float>(call.one(), {1, 1, 1}, {1});
}

TEST(MaxPool, Dilates) {
  const OpCall call{.op = "MaxPool",
                    .inputs = {Tensor::of<float>({1, 1, 4}, {9, 1, 2, 8})},
                    .attributes = {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}}};
  expect_tensor<float>(call.one(), {1, 1, 2}, {9, 8});
}

TEST(AveragePool, CountsThePaddingOnRequest) {
  OpCall call{.op = "AveragePool",
              .inputs = {Tensor::of<float>({1, 1, 3}, {2, 4, 6})},
              .attributes = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}}};
  expect_tensor<float>(call.one(), {1, 1, 4}, {2, 3, 5, 6});
  call.attributes.emplace_back("count_include_pad", std::int64_t{1});
  expect_tensor<float>(call.one(), {1, 1, 4}, {1, 3, 5, 3});
}

TEST(AveragePool, CeilModeCountsNothingBeyondThePadding) {
  const OpCall call{.op = "AveragePool",
                    .inputs = {Tensor::of<float>({1, 1, 4}, {2, 4, 6, 8})},
                    .attributes = {{"kernel_shape", Ints{3}},
                                   {"strides", Ints{2}},
                                   {"ceil_mode", std::int64_t{1}},
                                   {"count_include_pad", std::int64_t{1}}}};
  expect_tensor<float>(call.one(), {1, 1, 2}, {4, 7});
}

TEST(Pool, SaysWhatIsWrong) {
  const auto why = [](std::vector<std::pair<std::string, Attribute>> attributes) {
    return OpCall{.op = "MaxPool", .inputs = {kSquare}, .attributes = std::move(attributes)}.error().second;
  };
  EXPECT_NE(why({}).find("kernel_shape"), std::string::npos);
  EXPECT_NE(why({{"kernel_shape", Ints{2}}}).find("a kernel of 1 axes"), std::string::npos);
  EXPECT_NE(why({{"kernel_shape", Ints{4, 4}}}).find("does not fit"), std::string::npos);
  EXPECT_NE(why({{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 2, 2, 2}}}).find("smaller than its window"),
            std::string::npos);
  EXPECT_NE(why({{"kernel_shape", Ints{0, 1}}}).find("a kernel of 0"), std::string::npos);
}

TEST(GlobalPool, FoldsEveryPlane) {
  const Tensor planes = Tensor::of<float>({1, 2, 1, 2}, {1, 3, 10, 20});
  expect_tensor<float>(OpCall{.op = "GlobalAveragePool", .inputs = {planes}}.one(), {1, 2, 1, 1}, {2, 15});
  expect_tensor<float>(OpCall{.op = "GlobalMaxPool", .inputs = {planes}}.one(), {1, 2, 1, 1}, {3, 20});
  const OpCall nothing{.op = "GlobalMaxPool", .inputs = {Tensor(DType::kFloat32, {1, 2, 0})}};
  EXPECT_EQ(nothing.error().first, ErrorCode::kInvalidFile);
}

TEST(LpPool, TakesTheNormOfEachWindow) {
  OpCall call{.op = "LpPool",
              .inputs = {Tensor::of<float>({1, 1, 3}, {3, -4, 0})},
              .attributes = {{"kernel_shape", Ints{2}}, {"pads", Ints{0, 1}}}};
  expect_tensor<float>(call.one(), {1, 1, 3}, {5, 4, 0});
  call.attributes.emplace_back("p", std::int64_t{1});
  expect_tensor<float>(call.one(), {1, 1, 3}, {7, 4, 0});
  call.attributes.back().second = std::int64_t{0};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

TEST(GlobalLpPool, TakesTheNormOfEachPlane) {
  const OpCall call{.op = "GlobalLpPool", .inputs = {Tensor::of<float>({1, 2, 2}, {3, 4, 5, -12})}};
  expect_tensor<float>(call.one(), {1, 2, 1}, {5, 13});
}

TEST(MaxPool, CountsIndicesInColumnMajorOrder) {
  const auto indices = OpCall{.op = "MaxPool",
                              .inputs = {kSquare},
                              .attributes = {{"kernel_shape", Ints{2, 2}}, {"storage_order", std::int64_t{1}}},
                              .outputs = 2}
                           .run()
                           .at(1);
  expect_tensor<std::int64_t>(indices, {1, 1, 2, 2}, {4, 7, 5, 8});
}

TEST(AveragePool, AveragesHalfPrecisionInTheRangeOfFloat) {
  const Tensor input = Tensor::of<BFloat16>({1, 1, 2}, {BFloat16(1e30F), BFloat16(3e30F)});
  const OpCall call{.op = "AveragePool", .inputs = {input}, .attributes = {{"kernel_shape", Ints{2}}}};
  expect_tensor<BFloat16>(call.one(), {1, 1, 1}, {BFloat16(2e30F)}, 1e28);
}

}  // namespace
}  // namespace saccade
