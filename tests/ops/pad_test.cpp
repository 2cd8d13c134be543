#include <limits>

#include "ops/op_values.hpp"

namespace saccade {
namespace {

Tensor pad(const Tensor& x, const Ints& pads, const std::string& mode) {
  return run("Pad", {x, indices(pads)}, {{"mode", mode}});
}

TEST(Pad, FillsWithAConstant) {
  const Tensor x = counting({1, 2});
  expect_tensor<std::int32_t>(run("Pad", {x, indices({1, 0, 0, 2}), Tensor::scalar<std::int32_t>(9)}), {2, 4},
                              {9, 9, 9, 9, 0, 1, 9, 9});
  expect_tensor<std::int32_t>(run("Pad", {x, indices({0, 1, 0, 0})}), {1, 3}, {0, 0, 1});
  expect_tensor<std::int32_t>(run("Pad", {counting({0}), indices({1, 1}), Tensor::scalar<std::int32_t>(5)}), {2},
                              {5, 5});
}

TEST(Pad, RepeatsTheInput) {
  const Tensor x = counting({3});
  expect_tensor<std::int32_t>(pad(x, {2, 2}, "reflect"), {7}, {2, 1, 0, 1, 2, 1, 0});
  expect_tensor<std::int32_t>(pad(x, {2, 2}, "edge"), {7}, {0, 0, 0, 1, 2, 2, 2});
  expect_tensor<std::int32_t>(pad(x, {2, 2}, "wrap"), {7}, {1, 2, 0, 1, 2, 0, 1});
  expect_tensor<std::int32_t>(pad(x, {5, 0}, "reflect"), {8}, {1, 0, 1, 2, 1, 0, 1, 2});
  expect_tensor<std::int32_t>(pad(counting({1}), {1, 1}, "reflect"), {3}, {0, 0, 0});
}

TEST(Pad, FillsCorners) {
  const Tensor x = counting({2, 2});
  expect_tensor<std::int32_t>(pad(x, {1, 1, 0, 1}, "reflect"), {3, 4}, {3, 2, 3, 2, 1, 0, 1, 0, 3, 2, 3, 2});
  expect_tensor<std::int32_t>(pad(x, {1, 1, 0, 1}, "edge"), {3, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3});
}

TEST(Pad, NegativePadsCrop) {
  const Tensor x = counting({5});
  expect_tensor<std::int32_t>(run("Pad", {x, indices({-1, -2})}), {2}, {1, 2});
  expect_tensor<std::int32_t>(run("Pad", {x, indices({-1, 1})}), {5}, {1, 2, 3, 4, 0});
  expect_tensor<std::int32_t>(pad(x, {-3, 1}, "edge"), {3}, {3, 4, 4});
}

TEST(Pad, NamesAxes) {
  const Tensor x = counting({2, 2});
  expect_tensor<std::int32_t>(run("Pad", {x, indices({1, 0}), {}, indices({-1})}), {2, 3}, {0, 0, 1, 0, 2, 3});
  EXPECT_EQ(run("Pad", {strings({"a"}), indices({1, 0})}).strings()[0], "");
}

TEST(Pad, RejectsNonsense) {
  const Tensor x = counting({2, 2});
  const auto low = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(error_of("Pad", {x, indices({1, 1})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Pad", {x, indices({-2, 0, -1, 0})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Pad", {x, indices({low, 0, low, 0})}), ErrorCode::kUnsupported);
  EXPECT_EQ(error_of("Pad", {x, indices({0, 0, 0, 0}), Tensor::scalar(1.0F)}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Pad", {x, indices({0, 0, 0, 0})}, {{"mode", std::string("mirror")}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Pad", {counting({0}), indices({1, 0})}, {{"mode", std::string("edge")}}),
            ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Pad", {counting({}), indices({1, 0}), {}, indices({0})}), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
