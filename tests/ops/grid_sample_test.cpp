#include <limits>

#include "run_op.hpp"

namespace saccade {
namespace {

const Tensor kRow = Tensor::of<float>({1, 1, 1, 4}, {10, 20, 30, 40});

/// Samples kRow at positions in elements: 0 is the centre of the first, 3 that of the last.
Tensor sample(std::initializer_list<float> places, const std::string& mode, const std::string& padding,
              bool align = false) {
  Tensor grid(DType::kFloat32, {1, 1, static_cast<std::int64_t>(places.size()), 2});
  std::size_t i = 0;
  for (const float place : places) {
    grid.data<float>()[i++] = align ? place / 3 * 2 - 1 : (place + 0.5F) / 4 * 2 - 1;
    grid.data<float>()[i++] = 0;
  }
  return OpCall{.op = "GridSample",
                .inputs = {kRow, grid},
                .attributes = {{"mode", mode}, {"padding_mode", padding}, {"align_corners", std::int64_t{align}}}}
      .one();
}

TEST(GridSample, InterpolatesBetweenNeighbours) {
  expect_tensor<float>(sample({0, 1.5F, 2.25F}, "linear", "zeros"), {1, 1, 1, 3}, {10, 25, 32.5F}, 1e-4);
  expect_tensor<float>(sample({0, 1.5F, 3}, "bilinear", "zeros", true), {1, 1, 1, 3}, {10, 25, 40}, 1e-4);
  expect_tensor<float>(sample({0.4F, 0.6F}, "nearest", "zeros"), {1, 1, 1, 2}, {10, 20});
}

TEST(GridSample, CubicIsExactOnALine) {
  expect_tensor<float>(sample({1.5F}, "cubic", "zeros"), {1, 1, 1, 1}, {25}, 1e-4);
}

TEST(GridSample, PadsByItsMode) {
  // Half an element beyond the end, and one and a half.
  expect_tensor<float>(sample({3.5F, 4.5F}, "linear", "zeros"), {1, 1, 1, 2}, {20, 0}, 1e-4);
  expect_tensor<float>(sample({3.5F, 4.5F}, "linear", "border"), {1, 1, 1, 2}, {40, 40}, 1e-4);
  expect_tensor<float>(sample({3.5F, 4.5F}, "linear", "reflection"), {1, 1, 1, 2}, {40, 35}, 1e-4);
  expect_tensor<float>(sample({3.5F, 4.5F}, "linear", "reflection", true), {1, 1, 1, 2}, {35, 25}, 1e-4);
}

TEST(GridSample, SurvivesAnyCoordinate) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    expect_tensor<float>(sample({infinity, -infinity, nan, 1e30F}, mode, "zeros"), {1, 1, 1, 4}, {0, 0, 0, 0});
    expect_tensor<float>(sample({infinity, -infinity, nan, 1e30F}, mode, "border"), {1, 1, 1, 4}, {40, 10, 10, 40},
                         1e-4);
    EXPECT_NO_THROW(sample({infinity, -infinity, nan, 1e30F}, mode, "reflection"));
  }
}

TEST(GridSample, SamplesVolumes) {
  const OpCall call{.op = "GridSample",
                    .inputs = {Tensor::of<float>({1, 1, 2, 1, 2}, {1, 2, 3, 4}),
                               Tensor::of<float>({1, 1, 1, 1, 3}, {-0.5F, 0, 0.5F})},
                    .attributes = {{"mode", std::string("nearest")}}};
  expect_tensor<float>(call.one(), {1, 1, 1, 1, 1}, {3});
}

TEST(GridSample, CutsIntegersOffAndKeepsTheNearestExactly) {
  const Tensor grid = Tensor::of<float>({1, 1, 4, 2}, {-0.75F, 0, -0.5F, 0, 0, 0, 3, 0});  // at 0, 0.5, 1.5 and outside
  const auto sampled = [&](Tensor row, const char* mode) {
    return OpCall{.op = "GridSample", .inputs = {std::move(row), grid}, .attributes = {{"mode", std::string(mode)}}}
        .one();
  };
  const Shape shape{1, 1, 1, 4};
  expect_tensor<std::int8_t>(sampled(Tensor::of<std::int8_t>(shape, {-5, -10, 21, 7}), "linear"), shape,
                             {-5, -7, 5, 0});
  expect_tensor<std::uint8_t>(sampled(Tensor::of<std::uint8_t>(shape, {0, 255, 255, 0}), "cubic"), shape,
                              {0, 127, 255, 0});
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  expect_tensor<std::int64_t>(sampled(Tensor::of<std::int64_t>(shape, {odd, 2, -odd, 4}), "nearest"), shape,
                              {odd, odd, -odd, 0});
}

TEST(GridSample, OfBoolsIsWhetherAnyWeighs) {
  const Tensor row = Tensor::of<bool>({1, 1, 1, 4}, {false, true, false, false});
  const Tensor grid = Tensor::of<float>({1, 1, 3, 2}, {-0.75F, 0, -0.5F, 0, 0.75F, 0});  // at 0, 0.5 and 3
  expect_tensor<bool>(OpCall{.op = "GridSample", .inputs = {row, grid}}.one(), {1, 1, 1, 3}, {false, true, false});
}

TEST(GridSample, ReportsMismatches) {
  OpCall call{.op = "GridSample", .inputs = {kRow, Tensor(DType::kFloat32, {1, 1, 1, 3})}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
  call.inputs = {Tensor(DType::kFloat32, {1, 1, 4}), Tensor(DType::kFloat32, {1, 1, 1})};
  EXPECT_EQ(call.error().first, ErrorCode::kUnsupported);
}

TEST(Lrn, DividesByNeighboursAlongTheChannels) {
  const OpCall call{.op = "LRN",
                    .inputs = {Tensor::of<float>({1, 3, 1}, {1, 2, 3})},
                    .attributes = {{"size", std::int64_t{3}}, {"alpha", 3.0F}, {"beta", 1.0F}, {"bias", 0.0F}}};
  expect_tensor<float>(call.one(), {1, 3, 1}, {1 / 5.0F, 2 / 14.0F, 3 / 13.0F}, 1e-6);
  EXPECT_EQ((OpCall{.op = "LRN", .inputs = {kRow}}.error().first), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
