#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "support/run_op.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

using test::AttributeList;
using test::elements;
using test::run_saccade_op;

using Classes = std::vector<std::int32_t>;
using Floats = std::vector<float>;

Classes map_classes(const Tensor& scores, const AttributeList& attributes = {}) {
  return elements<std::int32_t>(run_saccade_op("MapClasses", {scores}, 1, attributes)[0]);
}

TEST(MapClasses, TakesTheFirstOfTheBest) {
  const Tensor scores = Tensor::of<float>({1, 3, 1, 4}, {1, 0, 0, -5,  //
                                                         1, 2, 0, -4,  //
                                                         0, 2, 1, -6});
  EXPECT_EQ(map_classes(scores), (Classes{0, 1, 2, 1}));
}

TEST(MapClasses, KnowsNoClassBesideANan) {
  const Tensor scores = Tensor::of<float>({1, 2, 2, 2}, {kNan, kNan, 3, -kInfinity,  //
                                                         kNan, -9, kNan, -kInfinity});
  EXPECT_EQ(map_classes(scores), (Classes{-1, -1, -1, 0}));
}

TEST(MapClasses, OneChannelIsOneAboveTheThreshold) {
  const Tensor scores = Tensor::of<float>({1, 1, 1, 5}, {-1, 0, 0.5F, 0.75F, kNan});
  EXPECT_EQ(map_classes(scores), (Classes{0, 0, 1, 1, -1}));
  EXPECT_EQ(map_classes(scores, {{"threshold", 0.5F}}), (Classes{0, 0, 0, 1, -1}));
}

TEST(MapClasses, EveryCellOfALargeGridHasItsOwn) {
  constexpr std::size_t kCells = 41 * 101;  // two complete pieces of 2048 and a part
  Tensor scores(DType::kFloat32, {1, 3, 41, 101});
  Classes expected;
  for (std::size_t i = 0; i < kCells; ++i) {
    expected.push_back(static_cast<std::int32_t>(i / 5 % 3));
    for (std::size_t c = 0; c < 3; ++c) scores.data<float>()[c * kCells + i] = c == i / 5 % 3 ? -1.0F : -2.0F;
  }
  EXPECT_EQ(map_classes(scores), expected);
}

/// A frame of 100x80 pixels: scaled by 1/2 horizontally and 1/4 vertically, 4 columns and 6 rows into the model's
/// image.
Floats map_points(const Shape& shape, const Floats& points) {
  const Tensor geometry = Tensor::of<float>({6}, {0.5F, 0.25F, 4, 6, 100, 80});
  return elements<float>(
      run_saccade_op("MapPoints", {Tensor::of<float>(shape, std::span(points)), geometry}, 1, {})[0]);
}

TEST(MapPoints, GoThroughScaleAndOffsetAndStayInTheFrame) {
  EXPECT_EQ(map_points({2, 2, 2}, {14, 16, 4, 6, 0, 100, 100, 0}), (Floats{20, 40, 0, 0, 0, 80, 100, 0}));
}

TEST(MapPoints, CopyNumbersAfterXAndY) {
  EXPECT_EQ(map_points({1, 2, 3}, {14, 16, 0.7F, 24, 11, -300}), (Floats{20, 40, 0.7F, 40, 20, -300}));
  EXPECT_EQ(map_points({1, 1, 4}, {14, 16, 1e9F, kInfinity}), (Floats{20, 40, 1e9F, kInfinity}));
}

TEST(MapPoints, StayNoNumbersWhereTheyAreNone) {
  const Floats mapped = map_points({1, 2, 3}, {kNan, 16, 0.7F, 14, 16, kNan});
  EXPECT_TRUE(std::isnan(mapped[0]));
  EXPECT_EQ(Floats(mapped.begin() + 1, mapped.begin() + 5), (Floats{40, 0.7F, 20, 40}));
  EXPECT_TRUE(std::isnan(mapped[5]));
  EXPECT_EQ(map_points({1, 1, 2}, {kInfinity, -kInfinity}), (Floats{kInfinity, -kInfinity}));
}

/// Of three objects of two numbers each.
TEST(SummarizeRows, IgnoresWhatIsNotFinite) {
  const Tensor map = Tensor::of<float>({4, 4}, {3, -1, kNan, 4,                     //
                                                kInfinity, -kInfinity, kNan, kNan,  //
                                                1e8F, 3, -1e8F, kInfinity,          //
                                                3e38F, 3e38F, 3e38F, 3e38F});
  EXPECT_EQ(elements<float>(run_saccade_op("SummarizeRows", {map}, 1, {})[0]),
            (Floats{-1,    4,    2, 3, 0, kInfinity, -kInfinity, 0,     0, 1,  //
                    -1e8F, 1e8F, 1, 3, 1, 3e38F,     3e38F,      3e38F, 4, 0}));
}

Floats take_objects(const Classes& indices, std::int32_t count) {
  return elements<float>(
      run_saccade_op("TakeObjects",
                     {Tensor::of<float>({1, 3, 2}, {0, 1, 2, 3, 4, 5}),
                      Tensor::of<std::int32_t>({static_cast<std::int64_t>(indices.size())}, std::span(indices)),
                      Tensor::of<std::int32_t>({1}, {count})},
                     1, {})[0]);
}

TEST(TakeObjects, TakesRowsInTheirOrder) { EXPECT_EQ(take_objects({2, 0}, 2), (Floats{4, 5, 0, 1})); }

TEST(TakeObjects, AnIndexOutsideIsTheNearestRow) { EXPECT_EQ(take_objects({-4, 1, 7}, 3), (Floats{0, 1, 2, 3, 4, 5})); }

TEST(TakeObjects, TakesAtMostAsManyAsThereAreIndices) {
  EXPECT_EQ(take_objects({1, 1}, 9), (Floats{2, 3, 2, 3}));
  const Floats part = take_objects({2, 1}, 1);
  EXPECT_EQ(Floats(part.begin(), part.begin() + 2), (Floats{4, 5}));
  EXPECT_EQ(take_objects({2, 1}, -1).size(), 4U);
}

/// The shape rule's error for TENSORS; empty if it accepts them.
std::string refusal(const std::string& op, const std::vector<Tensor>& tensors, const AttributeList& attributes = {}) {
  try {
    run_saccade_op(op, tensors, 1, attributes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    return error.what();
  }
  return "nothing";
}

/// Zeros.
Tensor of_shape(const Shape& shape, DType dtype = DType::kFloat32) {
  Tensor tensor(dtype, shape);
  std::fill_n(tensor.raw(), tensor.bytes(), std::byte{0});
  return tensor;
}

/// TENSORS with one of them replaced.
std::vector<Tensor> with(std::vector<Tensor> tensors, std::size_t place, const Tensor& tensor) {
  tensors[place] = tensor;
  return tensors;
}

using testing::HasSubstr;

TEST(MapClasses, RefusesWhatAreNoScores) {
  EXPECT_THAT(refusal("MapClasses", {of_shape({1, 3, 2, 2}, DType::kInt32)}), HasSubstr("scores are int32 1x3x2x2"));
  for (const Shape& shape : {Shape{3, 2, 2}, Shape{2, 3, 2, 2}, Shape{1, 3, 2, 2, 1}})
    EXPECT_THAT(refusal("MapClasses", {of_shape(shape)}), HasSubstr("scores are float32 " + shape.to_string()));
}

TEST(MapPoints, RefuseInvalidTensors) {
  const std::vector<Tensor> right = {of_shape({1, 1, 2}), of_shape({6})};
  EXPECT_EQ(refusal("MapPoints", right), "nothing");
  EXPECT_THAT(refusal("MapPoints", with(right, 0, of_shape({1, 1, 2}, DType::kInt32))), HasSubstr("points are int32"));
  for (const Shape& shape : {Shape{1, 2}, Shape{1, 1, 1}})
    EXPECT_THAT(refusal("MapPoints", with(right, 0, of_shape(shape))), HasSubstr("points are float32"));
  EXPECT_THAT(refusal("MapPoints", with(right, 1, of_shape({4}))), HasSubstr("the geometry is float32 4"));
  EXPECT_THAT(refusal("MapPoints", with(right, 1, of_shape({6}, DType::kInt32))), HasSubstr("the geometry is int32 6"));
}

TEST(SummarizeRows, RefusesInvalidTensors) {
  EXPECT_THAT(refusal("SummarizeRows", {of_shape({2, 2}, DType::kInt32)}), HasSubstr("the map is int32 2x2"));
  EXPECT_THAT(refusal("SummarizeRows", {of_shape({1, 2, 2})}), HasSubstr("the map is float32 1x2x2"));
}

TEST(TakeObjects, RefusesWhatDoesNotBelongTogether) {
  const std::vector<Tensor> right = {of_shape({1, 3, 2}), of_shape({2}, DType::kInt32), of_shape({1}, DType::kInt32)};
  EXPECT_EQ(refusal("TakeObjects", right), "nothing");
  EXPECT_THAT(refusal("TakeObjects", with(right, 0, of_shape({1, 3, 2}, DType::kInt32))), HasSubstr("the data are"));
  for (const Shape& shape : {Shape{3}, Shape{2, 3, 2}})
    EXPECT_THAT(refusal("TakeObjects", with(right, 0, of_shape(shape))), HasSubstr("the data are float32"));
  for (const auto& [place, wrong] : {std::pair{1, of_shape({2})}, std::pair{1, of_shape({1, 2}, DType::kInt32)},
                                     std::pair{2, of_shape({1})}, std::pair{2, of_shape({2}, DType::kInt32)}})
    EXPECT_THAT(refusal("TakeObjects", with(right, static_cast<std::size_t>(place), wrong)),
                HasSubstr("indices and count"));
}

TEST(BoxMasks, RefusesWhatDoesNotBelongTogether) {
  const AttributeList size = {{"width", std::int64_t{8}}, {"height", std::int64_t{8}}};
  const std::vector<Tensor> right = {of_shape({2, 3}), of_shape({1, 3, 4, 4}), of_shape({2, 6}),
                                     of_shape({1}, DType::kInt32), of_shape({6})};
  EXPECT_EQ(refusal("BoxMasks", right, size), "nothing");
  for (const std::size_t place : {0U, 1U, 2U, 4U})
    EXPECT_THAT(refusal("BoxMasks", with(right, place, of_shape(right[place].shape(), DType::kInt32)), size),
                HasSubstr("input " + std::to_string(place) + " is int32"));
  EXPECT_THAT(refusal("BoxMasks", with(right, 0, of_shape({2, 4})), size), HasSubstr("do not belong together"));
  for (const Shape& shape : {Shape{3, 4, 4}, Shape{2, 3, 4, 4}, Shape{1, 2, 4, 4}})
    EXPECT_THAT(refusal("BoxMasks", with(right, 1, of_shape(shape)), size), HasSubstr("do not belong together"));
  for (const auto& [place, wrong] : {std::pair{2, of_shape({3, 6})}, std::pair{2, of_shape({2, 7})},
                                     std::pair{3, of_shape({1})}, std::pair{4, of_shape({4})}})
    EXPECT_THAT(refusal("BoxMasks", with(right, static_cast<std::size_t>(place), wrong), size),
                HasSubstr("detections, count and geometry"));
  EXPECT_THAT(refusal("BoxMasks", right, {{"width", std::int64_t{8}}}), HasSubstr("no size"));
  EXPECT_THAT(refusal("BoxMasks", right, {{"width", std::int64_t{-1}}, {"height", std::int64_t{8}}}),
              HasSubstr("no size"));
}

}  // namespace
}  // namespace saccade
