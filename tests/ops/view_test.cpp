#include <limits>

#include "ops/op_values.hpp"

namespace saccade {
namespace {

Shape shape_of(const std::string& op, std::vector<Tensor> inputs, Named attributes = {}) {
  const Tensor y = run(op, inputs, std::move(attributes));
  const auto from = inputs[0].data<std::int32_t>();
  expect_tensor<std::int32_t>(y, y.shape(), {from.begin(), from.end()});
  return y.shape();
}

TEST(Reshape, CopiesAndInfersDimensions) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(shape_of("Reshape", {x, indices({4, 6})}), (Shape{4, 6}));
  EXPECT_EQ(shape_of("Reshape", {x, indices({0, -1})}), (Shape{2, 12}));
  EXPECT_EQ(shape_of("Reshape", {counting({1}), indices({})}), Shape{});
  EXPECT_EQ(shape_of("Reshape", {counting({0, 3}), indices({3, 0})}, {{"allowzero", std::int64_t{1}}}), (Shape{3, 0}));
}

TEST(Reshape, RejectsWhatDoesNotFit) {
  const Tensor x = counting({2, 3});
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(error_of("Reshape", {x, indices({4})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Reshape", {x, indices({-1, -1})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Reshape", {x, indices({-2, -3})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Reshape", {x, indices({-1, 4})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Reshape", {x, indices({1, 1, 0})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Reshape", {x, indices({most, most})}), ErrorCode::kUnsupported);
  EXPECT_EQ(error_of("Reshape", {x, indices({1, 1, 1, 1, 1, 1, 1, 2, 3})}), ErrorCode::kUnsupported);
}

TEST(Flatten, MakesAMatrix) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(shape_of("Flatten", {x}), (Shape{2, 12}));
  EXPECT_EQ(shape_of("Flatten", {x}, {{"axis", std::int64_t{0}}}), (Shape{1, 24}));
  EXPECT_EQ(shape_of("Flatten", {x}, {{"axis", std::int64_t{3}}}), (Shape{24, 1}));
  EXPECT_EQ(shape_of("Flatten", {x}, {{"axis", std::int64_t{-1}}}), (Shape{6, 4}));
  EXPECT_EQ(error_of("Flatten", {x}, {{"axis", std::int64_t{4}}}), ErrorCode::kInvalidFile);
}

TEST(Squeeze, DropsDimensionsOfOne) {
  const Tensor x = counting({1, 3, 1});
  EXPECT_EQ(shape_of("Squeeze", {x}), (Shape{3}));
  EXPECT_EQ(shape_of("Squeeze", {x, indices({-1})}), (Shape{1, 3}));
  EXPECT_EQ(error_of("Squeeze", {x, indices({1})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Squeeze", {x, indices({3})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Squeeze", {counting({}), indices({0})}), ErrorCode::kInvalidFile);
}

TEST(Unsqueeze, InsertsDimensionsOfOne) {
  const Tensor x = counting({1, 3});
  EXPECT_EQ(shape_of("Unsqueeze", {x, indices({0, -1})}), (Shape{1, 1, 3, 1}));
  EXPECT_EQ(shape_of("Unsqueeze", {counting({}), indices({0})}), (Shape{1}));
  EXPECT_EQ(error_of("Unsqueeze", {x, indices({0, 0})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Unsqueeze", {x, indices({3})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Unsqueeze", {x, indices({0, 1, 2, 3, 4, 5, 6})}), ErrorCode::kUnsupported);
}

TEST(Identity, PassesItsInputOn) {
  EXPECT_EQ(shape_of("Identity", {counting({2, 2})}), (Shape{2, 2}));
  EXPECT_EQ(run("Identity", {strings({"a"})}).strings()[0], "a");
  EXPECT_EQ(shape_of("Dropout", {counting({2, 2})}), (Shape{2, 2}));
}

TEST(Dropout, IsForInferenceOnly) {
  const Tensor x = Tensor::of<float>({2}, {1, 2});
  const auto both = OpCall{.op = "Dropout", .inputs = {x}, .outputs = 2}.run();
  expect_tensor<float>(both[0], {2}, {1, 2});
  expect_tensor<bool>(both[1], {2}, {true, true});
  EXPECT_EQ(error_of("Dropout", {x, {}, Tensor::scalar(true)}), ErrorCode::kUnsupported);
  expect_tensor<float>(run("Dropout", {x, {}, Tensor::scalar(false)}), {2}, {1, 2});
}

}  // namespace
}  // namespace saccade
