#include <limits>

#include "run_op.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

const Tensor kLine = Tensor::of<float>({1, 1, 4}, {10, 20, 30, 40});

using Settings = std::vector<std::pair<std::string, Attribute>>;

Tensor to_size(const Tensor& input, std::initializer_list<std::int64_t> sizes, Settings attributes) {
  const Tensor list = Tensor::of<std::int64_t>({static_cast<std::int64_t>(sizes.size())}, sizes);
  return OpCall{.op = "Resize", .inputs = {input, {}, {}, list}, .attributes = std::move(attributes)}.one();
}

Tensor by_scale(const Tensor& input, std::initializer_list<float> scales, Settings attributes) {
  const Tensor list = Tensor::of<float>({static_cast<std::int64_t>(scales.size())}, scales);
  return OpCall{.op = "Resize", .inputs = {input, {}, list}, .attributes = std::move(attributes)}.one();
}

Settings nearest(const char* rounding, const char* coordinates = "asymmetric") {
  return {{"mode", std::string("nearest")},
          {"nearest_mode", std::string(rounding)},
          {"coordinate_transformation_mode", std::string(coordinates)}};
}

Settings linear(const char* coordinates) {
  return {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string(coordinates)}};
}

TEST(Resize, DoublesByCopying) {
  const Tensor square = Tensor::of<std::int64_t>({1, 1, 2, 2}, {1, 2, 3, 4});
  expect_tensor<std::int64_t>(by_scale(square, {1, 1, 2, 2}, nearest("floor")), {1, 1, 4, 4},
                              {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
}

TEST(Resize, RoundsByItsNearestMode) {
  // Outputs lie at 0, 0.5, 1, 1.5 of two inputs.
  const Tensor pair = Tensor::of<float>({2}, {1, 2});
  expect_tensor<float>(by_scale(pair, {2}, nearest("floor")), {4}, {1, 1, 2, 2});
  expect_tensor<float>(by_scale(pair, {2}, nearest("ceil")), {4}, {1, 2, 2, 2});
  expect_tensor<float>(by_scale(pair, {2}, nearest("round_prefer_floor")), {4}, {1, 1, 2, 2});
  expect_tensor<float>(by_scale(pair, {2}, nearest("round_prefer_ceil")), {4}, {1, 2, 2, 2});
}

TEST(Resize, TakesWhatRoundingMovedForTheMiddle) {
  // Two thirds of five is three: outputs lie at 0.5, 2 and 3.5, and 2 / 3 is inexact.
  const Tensor five = Tensor::of<float>({1, 1, 3, 5}, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  const auto resized = [&](const char* rounding) {
    Settings settings = nearest(rounding, "half_pixel_symmetric");
    settings.emplace_back("keep_aspect_ratio_policy", std::string("not_larger"));
    return to_size(five, {1, 1, 2, 4}, settings);
  };
  expect_tensor<float>(resized("round_prefer_floor"), {1, 1, 2, 3}, {0, 2, 3, 0, 2, 3});
  expect_tensor<float>(resized("round_prefer_ceil"), {1, 1, 2, 3}, {1, 2, 4, 1, 2, 4});
}

TEST(Resize, InterpolatesInEveryCoordinateSystem) {
  expect_tensor<float>(to_size(kLine, {1, 1, 2}, linear("half_pixel")), {1, 1, 2}, {15, 35});
  expect_tensor<float>(to_size(kLine, {1, 1, 2}, linear("asymmetric")), {1, 1, 2}, {10, 30});
  expect_tensor<float>(to_size(kLine, {1, 1, 3}, linear("align_corners")), {1, 1, 3}, {10, 25, 40});
  expect_tensor<float>(to_size(kLine, {1, 1, 1}, linear("pytorch_half_pixel")), {1, 1, 1}, {10});
  // 0.6 * 4 leaves 2 of 2.4 outputs: both lie a sixth of an input further in than half_pixel would have them.
  expect_tensor<float>(by_scale(kLine, {1, 1, 0.6F}, linear("half_pixel_symmetric")), {1, 1, 2},
                       {16.666666F, 33.333333F}, 1e-4);
}

TEST(Resize, CropsAndExtrapolates) {
  const OpCall call{.op = "Resize",
                    .inputs = {Tensor::of<float>({4}, {10, 20, 30, 40}), Tensor::of<float>({2}, {0, 2}), Tensor(),
                               Tensor::of<std::int64_t>({1}, {3})},
                    .attributes = {{"mode", std::string("linear")},
                                   {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                                   {"extrapolation_value", -1.0F}}};
  expect_tensor<float>(call.one(), {3}, {10, 40, -1});
}

TEST(Resize, CubicWeighsFourNeighbours) {
  // In the middle between two inputs the weights are -3/32, 19/32, 19/32, -3/32 for a = -0.75.
  const Tensor line = Tensor::of<float>({4}, {0, 32, 0, 0});
  const Settings cubic = {{"mode", std::string("cubic")}};
  expect_tensor<float>(to_size(line, {2}, cubic), {2}, {19, -3}, 1e-4);
  const Settings excluding = {{"mode", std::string("cubic")}, {"exclude_outside", std::int64_t{1}}};
  // Without the neighbour outside, the other three weights (sum 35/32) are normalized to 1.
  expect_tensor<float>(to_size(line, {2}, excluding), {2}, {19 * 32.0F / 35, -3 * 32.0F / 35}, 1e-4);
}

TEST(Resize, SmoothsWhereItShrinks) {
  // A triangle four inputs wide around 0.5: weights 3, 3, 1 of 8 and 1 beyond the edge, which is added to the first.
  Settings smooth = linear("half_pixel");
  smooth.emplace_back("antialias", std::int64_t{1});
  expect_tensor<float>(to_size(Tensor::of<float>({4}, {8, 16, 24, 0}), {2}, smooth), {2},
                       {(4 * 8 + 3 * 16 + 24) / 8.0F, (16 + 3 * 24) / 8.0F}, 1e-5);
}

TEST(Resize, KeepsTheAspectRatio) {
  const Tensor image(DType::kFloat32, {1, 1, 4, 8});
  const auto shape = [&](const char* policy) {
    Settings settings = nearest("floor");
    settings.emplace_back("axes", std::vector<std::int64_t>{2, 3});
    settings.emplace_back("keep_aspect_ratio_policy", std::string(policy));
    return to_size(image, {6, 6}, settings).shape();
  };
  EXPECT_EQ(shape("stretch"), (Shape{1, 1, 6, 6}));
  EXPECT_EQ(shape("not_larger"), (Shape{1, 1, 3, 6}));
  EXPECT_EQ(shape("not_smaller"), (Shape{1, 1, 6, 12}));
}

TEST(Resize, InterpolatesEveryNumber) {
  const Tensor sizes = Tensor::of<std::int64_t>({1}, {3});
  const auto middle = [&](const Tensor& x) {
    return OpCall{.op = "Resize", .inputs = {x, {}, {}, sizes}, .attributes = linear("align_corners")}.one();
  };
  expect_tensor<std::uint16_t>(middle(Tensor::of<std::uint16_t>({2}, {1, 4})), {3}, {1, 2, 4});
  expect_tensor<BFloat16>(middle(Tensor::of<BFloat16>({2}, {BFloat16(1.0F), BFloat16(4.0F)})), {3},
                          {BFloat16(1.0F), BFloat16(2.5F), BFloat16(4.0F)});
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  expect_tensor<std::int64_t>(middle(Tensor::of<std::int64_t>({2}, {kMost, kMost})), {3}, {kMost, kMost, kMost});
  const OpCall flags{.op = "Resize",
                     .inputs = {Tensor::of<bool>({2}, {true, false}), {}, {}, sizes},
                     .attributes = linear("align_corners")};
  EXPECT_EQ(flags.error().first, ErrorCode::kUnsupported);
}

TEST(Resize, SaysWhatIsWrong) {
  const auto why = [](const std::vector<float>& scales, const std::vector<std::int64_t>& sizes, Settings attributes) {
    const Tensor a = Tensor::of<float>({static_cast<std::int64_t>(scales.size())}, scales);
    const Tensor b = Tensor::of<std::int64_t>({static_cast<std::int64_t>(sizes.size())}, sizes);
    return OpCall{.op = "Resize", .inputs = {kLine, {}, a, b}, .attributes = std::move(attributes)}.error().second;
  };
  EXPECT_NE(why({}, {}, {}).find("either scales or sizes"), std::string::npos);
  EXPECT_NE(why({1, 1}, {}, {}).find("2 scales or sizes for 3 axes"), std::string::npos);
  EXPECT_NE(why({1, 1, -1}, {}, {}).find("can't scale"), std::string::npos);
  EXPECT_NE(why({1, 1, 1e30F}, {}, {}).find("can't scale"), std::string::npos);
  EXPECT_NE(why({}, {1, 1, 0}, {}).find("can't make 0"), std::string::npos);
  EXPECT_NE(why({1, 1, 2}, {}, {{"mode", std::string("area")}}).find("'area'"), std::string::npos);
  EXPECT_NE(why({1, 1, 2}, {}, nearest("up")).find("'up'"), std::string::npos);
}

}  // namespace
}  // namespace saccade
