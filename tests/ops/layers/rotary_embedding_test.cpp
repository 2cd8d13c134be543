#include "ops/op_values.hpp"

namespace saccade {
namespace {

const Named kInterleaved = {{"interleaved", std::int64_t{1}}};

Tensor row(const Shape& shape, std::initializer_list<float> values) { return Tensor::of<float>(shape, values); }

// Of two pairs the first is unchanged (cosine 1) and the second is rotated by 90 degrees: (a, b) becomes (-b, a).
const Tensor kHead = row({1, 1, 1, 4}, {1, 2, 3, 4});
const Tensor kCosines = row({1, 1, 2}, {1, 0});
const Tensor kSines = row({1, 1, 2}, {0, 1});

TEST(RotaryEmbedding, RotatesPairsAcrossTheTwoHalves) {
  expect_tensor<float>(run("RotaryEmbedding", {kHead, kCosines, kSines}), {1, 1, 1, 4}, {1, -4, 3, 2});
}

TEST(RotaryEmbedding, TurnsPairsOfNeighbours) {
  expect_tensor<float>(run("RotaryEmbedding", {kHead, kCosines, kSines}, kInterleaved), {1, 1, 1, 4}, {1, 2, -4, 3});
}

TEST(RotaryEmbedding, CopiesElementsBehindTheRotatedPart) {
  const Named two = {{"rotary_embedding_dim", std::int64_t{2}}};
  const Tensor turned = run("RotaryEmbedding", {kHead, row({1, 1, 1}, {0}), row({1, 1, 1}, {1})}, two);
  expect_tensor<float>(turned, {1, 1, 1, 4}, {-2, 1, 3, 4});
}

TEST(RotaryEmbedding, LooksPositionsUpAndCutsThreeDimensionsIntoHeads) {
  const Tensor x = row({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor positions = Tensor::of<std::int64_t>({1, 2}, {1, 0});
  const Named heads = {{"num_heads", std::int64_t{2}}};
  const std::vector<Tensor> inputs = {x, row({2, 1}, {1, 0}), row({2, 1}, {0, 1}), positions};
  expect_tensor<float>(run("RotaryEmbedding", inputs, heads), {1, 2, 4}, {-2, 1, -4, 3, 5, 6, 7, 8});
}

TEST(RotaryEmbedding, FindsTheRowsOfEveryHeadInFourDimensions) {
  // Two heads of two positions; the second position is rotated.
  const Tensor x = row({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor turned = run("RotaryEmbedding", {x, row({1, 2, 1}, {1, 0}), row({1, 2, 1}, {0, 1})});
  expect_tensor<float>(turned, {1, 2, 2, 2}, {1, 2, -4, 3, 5, 6, -8, 7});
}

TEST(RotaryEmbedding, RefusesWhatDoesNotFit) {
  const auto why = [](std::vector<Tensor> inputs, Named attributes = {}) {
    return error_of("RotaryEmbedding", std::move(inputs), std::move(attributes));
  };
  EXPECT_EQ(why({kHead, kCosines, row({1, 1, 1}, {0})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(why({kHead, kCosines, kSines}, {{"rotary_embedding_dim", std::int64_t{3}}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(why({row({1, 1, 4}, {1, 2, 3, 4}), kCosines, kSines}), ErrorCode::kInvalidFile);
  const Tensor outside = Tensor::of<std::int64_t>({1, 1}, {2});
  EXPECT_EQ(why({kHead, row({1, 2}, {1, 0}), row({1, 2}, {0, 1}), outside}), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace saccade
