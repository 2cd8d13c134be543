#include <cmath>

#include "run_op.hpp"
#include "support/specials.hpp"

// Reference kernels propagate NaN through comparisons.
namespace saccade {
namespace {

using Ints = std::vector<std::int64_t>;

/// The output of OP on VALUES, one float32 input of SHAPE.
std::vector<float> output_of(const char* op, const Shape& shape, std::initializer_list<float> values,
                             std::vector<std::pair<std::string, Attribute>> attributes = {}) {
  const Tensor result =
      OpCall{.op = op, .inputs = {Tensor::of<float>(shape, values)}, .attributes = std::move(attributes)}.one();
  return {result.data<float>().begin(), result.data<float>().end()};
}

TEST(ReferenceNan, IsTheGreatestOfAWindow) {
  // At any position in the window.
  const auto pooled = output_of("MaxPool", {1, 1, 6}, {1, kNan, 3, 4, 5, kNan}, {{"kernel_shape", Ints{2}}});
  EXPECT_TRUE(std::isnan(pooled[0]));
  EXPECT_TRUE(std::isnan(pooled[1]));
  EXPECT_EQ(pooled[2], 4);
  EXPECT_EQ(pooled[3], 5);
  EXPECT_TRUE(std::isnan(pooled[4]));
}

TEST(ReferenceNan, HasThePlaceOfTheFirst) {
  const auto results = OpCall{.op = "MaxPool",
                              .inputs = {Tensor::of<float>({1, 1, 4}, {kInfinity, kNan, 3, kNan})},
                              .attributes = {{"kernel_shape", Ints{4}}},
                              .outputs = 2}
                           .run();
  EXPECT_EQ(results[1].data<std::int64_t>()[0], 1);
}

TEST(ReferenceNan, IsTheGreatestOfAPlane) {
  const auto pooled = output_of("GlobalMaxPool", {1, 3, 3}, {kNan, 2, 3, 1, kNan, 9, 7, 8, 9});
  EXPECT_TRUE(std::isnan(pooled[0]));
  EXPECT_TRUE(std::isnan(pooled[1]));
  EXPECT_EQ(pooled[2], 9);
}

TEST(ReferenceNan, IsOnNeitherSideOfAThreshold) {
  EXPECT_TRUE(std::isnan(output_of("ThresholdedRelu", {1}, {kNan})[0]));
  EXPECT_TRUE(std::isnan(output_of("Shrink", {1}, {kNan})[0]));
  EXPECT_EQ(output_of("ThresholdedRelu", {2}, {1, 1.5F}), (std::vector<float>{0, 1.5F}));
}

TEST(ReferenceNan, IsTheGreatestOfARegion) {
  Tensor map(DType::kFloat32, {1, 1, 4, 4});
  for (float& value : map.data<float>()) value = 1;
  map.data<float>()[5] = kNan;
  const Tensor aligned =
      OpCall{.op = "RoiAlign",
             .inputs = {map, Tensor::of<float>({1, 4}, {0, 0, 3, 3}), Tensor::of<std::int64_t>({1}, {0})},
             .attributes = {{"mode", std::string("max")}}}
          .one();
  EXPECT_TRUE(std::isnan(aligned.data<float>()[0]));
  const Tensor pooled = OpCall{.op = "MaxRoiPool",
                               .inputs = {map, Tensor::of<float>({1, 5}, {0, 0, 0, 3, 3})},
                               .attributes = {{"pooled_shape", Ints{1, 1}}}}
                            .one();
  EXPECT_TRUE(std::isnan(pooled.data<float>()[0]));
}

TEST(ReferenceNan, IsTheOutputOfAQueryWithInfiniteScores) {
  // No mask hides the keys: their scores themselves are minus infinity.
  for (const float query : {-kInfinity, kNan}) {
    const Tensor output =
        OpCall{.op = "Attention",
               .inputs = {Tensor::of<float>({1, 1, 1, 1}, {query}), Tensor::of<float>({1, 1, 2, 1}, {1, 2}),
                          Tensor::of<float>({1, 1, 2, 1}, {3, 4})}}
            .one();
    EXPECT_TRUE(std::isnan(output.data<float>()[0]));
  }
}

TEST(ReferenceNan, StaysInItsChannelWhenTheOthersAreNotResized) {
  const Tensor resized = OpCall{.op = "Resize",
                                .inputs = {Tensor::of<float>({1, 3, 2}, {1, 2, kNan, kInfinity, 3, 4}),
                                           {},
                                           Tensor::of<float>({3}, {1, 1, 2})},
                                .attributes = {{"mode", std::string("cubic")}}}
                             .one();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::isfinite(resized.data<float>()[i]));
    EXPECT_FALSE(std::isfinite(resized.data<float>()[4 + i]));
    EXPECT_TRUE(std::isfinite(resized.data<float>()[8 + i]));
  }
}

}  // namespace
}  // namespace saccade
