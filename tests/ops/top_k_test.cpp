
#include "ops/op_values.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

std::vector<Tensor> top(const Tensor& x, std::int64_t k, Named attributes = {}) {
  return OpCall{.op = "TopK", .inputs = {x, indices({k})}, .attributes = std::move(attributes), .outputs = 2}.run();
}

TEST(TopK, TakesTheLargestFirst) {
  const auto got = top(Tensor::of<float>({2, 3}, {1, 3, 2, 6, 4, 5}), 2);
  expect_tensor<float>(got[0], {2, 2}, {3, 2, 6, 5});
  expect_tensor<std::int64_t>(got[1], {2, 2}, {1, 2, 0, 2});
}

TEST(TopK, EqualsKeepTheirOrder) {
  expect_tensor<std::int64_t>(top(Tensor::of<float>({4}, {5, 7, 5, 7}), 3)[1], {3}, {1, 3, 0});
  expect_tensor<std::int64_t>(top(Tensor::of<float>({4}, {5, 7, 5, 7}), 3, {{"largest", std::int64_t{0}}})[1], {3},
                              {0, 2, 1});
}

TEST(TopK, GoesAlongAnyAxis) {
  const Tensor x = Tensor::of<std::int64_t>({3, 2}, {1, 6, 3, 4, 2, 5});
  const auto got = top(x, 1, {{"axis", std::int64_t{0}}});
  expect_tensor<std::int64_t>(got[0], {1, 2}, {3, 6});
  expect_tensor<std::int64_t>(got[1], {1, 2}, {1, 0});
}

TEST(TopK, NanIsAboveAllNumbers) {
  const Tensor x = Tensor::of<float>({4}, {1, kNan, 2, kNan});
  expect_tensor<std::int64_t>(top(x, 4)[1], {4}, {1, 3, 2, 0});
  expect_tensor<std::int64_t>(top(x, 4, {{"largest", std::int64_t{0}}})[1], {4}, {0, 2, 1, 3});
}

TEST(TopK, RejectsNonsense) {
  const Tensor x = Tensor::of<float>({2}, {1, 2});
  expect_tensor<float>(top(x, 0)[0], {0}, {});
  EXPECT_EQ(error_of("TopK", {x, indices({3})}, {}, 2), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("TopK", {x, indices({-1})}, {}, 2), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("TopK", {Tensor::scalar(1.0F), indices({1})}, {}, 2), ErrorCode::kInvalidFile);
  const OpCall unknown{.op = "TopK", .inputs = {x, indices({1})}, .outputs = 2, .constant = false};
  EXPECT_EQ(unknown.error().first, ErrorCode::kUnsupported);
}

TEST(OneHot, SetsOneElementAnIndex) {
  const Tensor values = Tensor::of<float>({2}, {-1, 5});
  const Tensor depth = Tensor::scalar<std::int64_t>(3);
  expect_tensor<float>(run("OneHot", {indices({0, -1, 3}), depth, values}), {3, 3}, {5, -1, -1, -1, -1, 5, -1, -1, -1});
  expect_tensor<float>(run("OneHot", {indices({0, 2}), depth, values}, {{"axis", std::int64_t{0}}}), {3, 2},
                       {5, -1, -1, -1, -1, 5});
  expect_tensor<float>(run("OneHot", {Tensor::scalar(1.0F), Tensor::scalar(2.0F), values}), {2}, {-1, 5});
  EXPECT_EQ(error_of("OneHot", {indices({0}), Tensor::scalar<std::int64_t>(0), values}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("OneHot", {indices({0}), depth, Tensor::scalar(1.0F)}), ErrorCode::kInvalidFile);
}

TEST(CumSum, SumsAlongAnAxis) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor one = Tensor::scalar<std::int64_t>(1);
  const Named exclusive{{"exclusive", std::int64_t{1}}};
  const Named both{{"exclusive", std::int64_t{1}}, {"reverse", std::int64_t{1}}};
  expect_tensor<float>(run("CumSum", {x, one}), {2, 3}, {1, 3, 6, 4, 9, 15});
  expect_tensor<float>(run("CumSum", {x, Tensor::scalar<std::int32_t>(-2)}), {2, 3}, {1, 2, 3, 5, 7, 9});
  expect_tensor<float>(run("CumSum", {x, one}, exclusive), {2, 3}, {0, 1, 3, 0, 4, 9});
  expect_tensor<float>(run("CumSum", {x, one}, both), {2, 3}, {5, 3, 0, 11, 6, 0});
  EXPECT_EQ(error_of("CumSum", {x, Tensor::scalar<std::int64_t>(2)}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("CumSum", {Tensor::scalar(1.0F), one}), ErrorCode::kInvalidFile);
}

TEST(CumProd, MultipliesAlongAnAxis) {
  const Tensor x = Tensor::of<std::int32_t>({4}, {1, 2, 3, 4});
  const Tensor axis = Tensor::scalar<std::int32_t>(0);
  const Named exclusive{{"exclusive", std::int64_t{1}}};
  const Named both{{"exclusive", std::int64_t{1}}, {"reverse", std::int64_t{1}}};
  expect_tensor<std::int32_t>(run("CumProd", {x, axis}), {4}, {1, 2, 6, 24});
  expect_tensor<std::int32_t>(run("CumProd", {x, axis}, exclusive), {4}, {1, 1, 2, 6});
  expect_tensor<std::int32_t>(run("CumProd", {x, axis}, both), {4}, {24, 12, 4, 1});
}

TEST(NonZero, ListsPositionsOfWhatIsKnown) {
  const Tensor x = Tensor::of<float>({2, 2}, {1, 0, kNan, -1});
  expect_tensor<std::int64_t>(run("NonZero", {x}), {2, 3}, {0, 1, 1, 0, 0, 1});
  expect_tensor<std::int64_t>(run("NonZero", {Tensor::scalar(true)}), {1, 1}, {0});
  const auto unknown = OpCall{.op = "NonZero", .inputs = {x}, .constant = false}.error();
  EXPECT_EQ(unknown.first, ErrorCode::kUnsupported);
  EXPECT_NE(unknown.second.find("depends on the data"), std::string::npos) << unknown.second;
}

}  // namespace
}  // namespace saccade
