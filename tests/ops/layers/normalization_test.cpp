#include <limits>

#include "ops/run_op.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

const Tensor kOne = Tensor::of<float>({2}, {1, 1});
const Tensor kZero = Tensor::of<float>({2}, {0, 0});

TEST(BatchNormalization, UsesTheStoredStatistics) {
  const OpCall call{
      .op = "BatchNormalization",
      .inputs = {Tensor::of<float>({1, 2, 2}, {1, 3, 10, 20}), Tensor::of<float>({2}, {2, 1}),
                 Tensor::of<float>({2}, {5, 0}), Tensor::of<float>({2}, {1, 10}), Tensor::of<float>({2}, {4, 25})},
      .attributes = {{"epsilon", 0.0F}}};
  expect_tensor<float>(call.one(), {1, 2, 2}, {5, 7, 0, 2}, 1e-6);
}

TEST(BatchNormalization, RefusesTrainingAndWrongLengths) {
  const Tensor input = Tensor::of<float>({1, 2, 1}, {1, 2});
  OpCall call{.op = "BatchNormalization", .inputs = {input, kOne, kZero, kZero, kOne}};
  call.attributes = {{"training_mode", std::int64_t{1}}};
  EXPECT_EQ(call.error().first, ErrorCode::kUnsupported);
  call.attributes = {};
  call.inputs[2] = Tensor::of<float>({3}, {1, 2, 3});
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

TEST(InstanceNormalization, CentresEveryChannel) {
  const OpCall call{.op = "InstanceNormalization",
                    .inputs = {Tensor::of<float>({1, 2, 2}, {1, 3, 10, 30}), Tensor::of<float>({2}, {1, 2}),
                               Tensor::of<float>({2}, {0, 100})},
                    .attributes = {{"epsilon", 0.0F}}};
  expect_tensor<float>(call.one(), {1, 2, 2}, {-1, 1, 98, 102}, 1e-6);
}

TEST(GroupNormalization, CentresAGroupAndScalesEveryChannel) {
  const OpCall call{.op = "GroupNormalization",
                    .inputs = {Tensor::of<float>({1, 4, 1}, {1, 3, 10, 30}), Tensor::of<float>({4}, {1, 2, 3, 4}),
                               Tensor::of<float>({4}, {0, 0, 0, 10})},
                    .attributes = {{"epsilon", 0.0F}, {"num_groups", std::int64_t{2}}}};
  expect_tensor<float>(call.one(), {1, 4, 1}, {-1, 2, -3, 14}, 1e-6);
}

TEST(GroupNormalization, NeedsGroupsThatDivideTheChannels) {
  const OpCall call{.op = "GroupNormalization",
                    .inputs = {Tensor::of<float>({1, 2, 1}, {1, 3}), kOne, kZero},
                    .attributes = {{"num_groups", std::int64_t{0}}}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

TEST(LayerNormalization, GivesItsStatistics) {
  const auto results = OpCall{.op = "LayerNormalization",
                              .inputs = {Tensor::of<float>({2, 2}, {1, 3, 0, 8}), kOne, Tensor::of<float>({2}, {0, 7})},
                              .attributes = {{"epsilon", 0.0F}},
                              .outputs = 3}
                           .run();
  expect_tensor<float>(results[0], {2, 2}, {-1, 8, -1, 8}, 1e-6);
  expect_tensor<float>(results[1], {2, 1}, {2, 4}, 1e-6);
  expect_tensor<float>(results[2], {2, 1}, {1, 0.25F}, 1e-6);
}

TEST(LayerNormalization, NormalisesFromAnAxisOn) {
  const OpCall call{.op = "LayerNormalization",
                    .inputs = {Tensor::of<float>({1, 2, 1}, {1, 3}), Tensor::of<float>({2, 1}, {1, 1})},
                    .attributes = {{"epsilon", 0.0F}, {"axis", std::int64_t{1}}}};
  expect_tensor<float>(call.one(), {1, 2, 1}, {-1, 1}, 1e-6);
}

TEST(LayerNormalization, NeedsAScaleOfItsLength) {
  const OpCall call{.op = "LayerNormalization", .inputs = {Tensor::of<float>({1, 3}, {1, 2, 3}), kOne}};
  EXPECT_EQ(call.error().first, ErrorCode::kUnsupported);
}

TEST(Softmax, SumsToOneAlongItsAxis) {
  const Tensor input = Tensor::of<float>({2, 2}, {0, 1000, 0, 1000});
  expect_tensor<float>(OpCall{.op = "Softmax", .inputs = {input}}.one(), {2, 2}, {0, 1, 0, 1});
  const OpCall rows{.op = "Softmax", .inputs = {input}, .attributes = {{"axis", std::int64_t{0}}}};
  expect_tensor<float>(rows.one(), {2, 2}, {0.5F, 0.5F, 0.5F, 0.5F});
}

TEST(LogSoftmax, IsItsLogarithm) {
  const OpCall call{.op = "LogSoftmax", .inputs = {Tensor::of<float>({1, 2}, {5, 5})}};
  expect_tensor<float>(call.one(), {1, 2}, {-0.6931472F, -0.6931472F}, 1e-6);
}

TEST(Hardmax, MarksTheFirstOfTheGreatest) {
  const Tensor input = Tensor::of<float>({2, 3}, {1, 3, 3, 5, 2, std::numeric_limits<float>::quiet_NaN()});
  expect_tensor<float>(OpCall{.op = "Hardmax", .inputs = {input}}.one(), {2, 3}, {0, 1, 0, 0, 0, 1});
  const OpCall columns{.op = "Hardmax", .inputs = {input}, .attributes = {{"axis", std::int64_t{0}}}};
  expect_tensor<float>(columns.one(), {2, 3}, {0, 1, 0, 1, 0, 1});
}

TEST(Softmax, RefusesAWrongAxis) {
  const OpCall call{.op = "Softmax", .inputs = {kOne}, .attributes = {{"axis", std::int64_t{1}}}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

TEST(LayerNormalization, KeepsItsStatisticsInTheStashType) {
  const Tensor input = Tensor::of<BFloat16>({1, 2}, {BFloat16(1.0F), BFloat16(3.0F)});
  const Tensor scale = Tensor::of<BFloat16>({2}, {BFloat16(1.0F), BFloat16(2.0F)});
  const auto results = OpCall{.op = "LayerNormalization",
                              .inputs = {input, scale},
                              .attributes = {{"stash_type", std::int64_t{16}}, {"epsilon", 0.0F}},
                              .outputs = 2}
                           .run();
  expect_tensor<BFloat16>(results[0], {1, 2}, {BFloat16(-1.0F), BFloat16(2.0F)});
  expect_tensor<BFloat16>(results[1], {1, 1}, {BFloat16(2.0F)});
}

}  // namespace
}  // namespace saccade
