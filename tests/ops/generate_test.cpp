#include <cstdint>
#include <limits>

#include "ops/op_values.hpp"

namespace saccade {
namespace {

Tensor range(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  return run("Range", {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)});
}

TEST(Shape, GivesDimensions) {
  const Tensor x(DType::kFloat32, {2, 3, 5});
  expect_tensor<std::int64_t>(run("Shape", {x}), {3}, {2, 3, 5});
  expect_tensor<std::int64_t>(run("Shape", {x}, {{"start", std::int64_t{1}}}), {2}, {3, 5});
  expect_tensor<std::int64_t>(run("Shape", {x}, {{"start", std::int64_t{-3}}, {"end", std::int64_t{-1}}}), {2}, {2, 3});
  expect_tensor<std::int64_t>(run("Shape", {x}, {{"start", std::int64_t{9}}}), {0}, {});
  expect_tensor<std::int64_t>(run("Shape", {Tensor::scalar(1.0F)}), {0}, {});
  expect_tensor<std::int64_t>(run("Size", {x}), {}, {30});
}

TEST(Shape, IsKnownWithoutItsInput) {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kFloat32, {2, 3}});
  const ValueId dims = graph.add_value("dims");
  const ValueId y = graph.add_value("y");
  graph.add_node({.op = "Shape", .name = "shape", .inputs = {x}, .outputs = {dims}});
  graph.add_node({.op = "ConstantOfShape", .name = "zeros", .inputs = {dims}, .outputs = {y}});
  infer_types(graph);
  EXPECT_EQ(graph.value(y).type.shape, (saccade::Shape{2, 3}));
}

TEST(ConstantOfShape, RepeatsItsValue) {
  const Tensor dims = Tensor::of<std::int64_t>({2}, {2, 2});
  expect_tensor<float>(run("ConstantOfShape", {dims}), {2, 2}, {0, 0, 0, 0});
  expect_tensor<std::int64_t>(run("ConstantOfShape", {dims}, {{"value", Tensor::of<std::int64_t>({1}, {7})}}), {2, 2},
                              {7, 7, 7, 7});
  expect_tensor<float>(run("ConstantOfShape", {Tensor::of<std::int64_t>({0}, {})}), {}, {0});
  const OpCall two{.op = "ConstantOfShape", .inputs = {dims}, .attributes = {{"value", dims}}};
  EXPECT_EQ(two.error().first, ErrorCode::kInvalidFile);
  const OpCall negative{.op = "ConstantOfShape", .inputs = {Tensor::of<std::int64_t>({1}, {-1})}};
  EXPECT_EQ(negative.error().first, ErrorCode::kInvalidArgument);
  const OpCall huge{.op = "ConstantOfShape", .inputs = {Tensor::of<std::int64_t>({2}, {1LL << 40, 1LL << 40})}};
  EXPECT_EQ(huge.error().first, ErrorCode::kUnsupported);
}

TEST(Constant, TakesEveryKindOfValue) {
  expect_tensor<float>(run("Constant", {}, {{"value", Tensor::of<float>({2}, {1, 2})}}), {2}, {1, 2});
  expect_tensor<float>(run("Constant", {}, {{"value_float", 1.5F}}), {}, {1.5F});
  expect_tensor<std::int64_t>(run("Constant", {}, {{"value_int", std::int64_t{3}}}), {}, {3});
  expect_tensor<float>(run("Constant", {}, {{"value_floats", std::vector<float>{1, 2}}}), {2}, {1, 2});
  expect_tensor<std::int64_t>(run("Constant", {}, {{"value_ints", std::vector<std::int64_t>{4}}}), {1}, {4});
  EXPECT_EQ(run("Constant", {}, {{"value_string", std::string("cat")}}).strings()[0], "cat");
  EXPECT_EQ(run("Constant", {}, {{"value_strings", std::vector<std::string>{"a", "b"}}}).strings()[1], "b");
  EXPECT_EQ((OpCall{.op = "Constant"}.error().first), ErrorCode::kUnsupported);
}

TEST(Range, CountsUpAndDown) {
  expect_tensor<std::int64_t>(range(1, 8, 3), {3}, {1, 4, 7});
  expect_tensor<std::int64_t>(range(5, 0, -2), {3}, {5, 3, 1});
  expect_tensor<std::int64_t>(range(5, 0, 1), {0}, {});
  const auto low = std::numeric_limits<std::int64_t>::min();
  const auto high = std::numeric_limits<std::int64_t>::max();
  expect_tensor<std::int64_t>(range(low, high, high), {3}, {low, -1, high - 1});
  expect_tensor<float>(run("Range", {Tensor::scalar(0.0F), Tensor::scalar(1.0F), Tensor::scalar(0.3F)}), {4},
                       {0, 0.3F, 0.6F, 0.9F}, 1e-6);
  expect_tensor<std::int16_t>(run("Range", {Tensor::scalar<std::int16_t>(3), Tensor::scalar<std::int16_t>(0),
                                            Tensor::scalar<std::int16_t>(-1)}),
                              {3}, {3, 2, 1});
}

TEST(Range, RejectsEndlessOnes) {
  const auto error = [](Tensor start, Tensor limit, Tensor delta) {
    return OpCall{.op = "Range", .inputs = {std::move(start), std::move(limit), std::move(delta)}}.error().first;
  };
  const Tensor one = Tensor::scalar<std::int64_t>(1);
  EXPECT_EQ(error(one, one, Tensor::scalar<std::int64_t>(0)), ErrorCode::kInvalidFile);
  EXPECT_EQ(error(one, Tensor::scalar(std::numeric_limits<std::int64_t>::max()), one), ErrorCode::kUnsupported);
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(error(Tensor::scalar(0.0F), Tensor::scalar(inf), Tensor::scalar(1.0F)), ErrorCode::kUnsupported);
  EXPECT_EQ(error(one, Tensor::scalar(1.0F), one), ErrorCode::kInvalidFile);
  const OpCall unknown{.op = "Range", .inputs = {one, one, one}, .constant = false};
  EXPECT_EQ(unknown.error().first, ErrorCode::kUnsupported);
}

TEST(EyeLike, PutsOnesOnADiagonal) {
  const Tensor x(DType::kFloat32, {2, 3});
  expect_tensor<float>(run("EyeLike", {x}), {2, 3}, {1, 0, 0, 0, 1, 0});
  expect_tensor<float>(run("EyeLike", {x}, {{"k", std::int64_t{2}}}), {2, 3}, {0, 0, 1, 0, 0, 0});
  expect_tensor<float>(run("EyeLike", {x}, {{"k", std::int64_t{-1}}}), {2, 3}, {0, 0, 0, 1, 0, 0});
  expect_tensor<float>(run("EyeLike", {x}, {{"k", std::numeric_limits<std::int64_t>::min()}}), {2, 3},
                       {0, 0, 0, 0, 0, 0});
  expect_tensor<bool>(run("EyeLike", {x}, {{"dtype", std::int64_t{9}}}), {2, 3},
                      {true, false, false, false, true, false});
  EXPECT_EQ((OpCall{.op = "EyeLike", .inputs = {Tensor::scalar(1.0F)}}.error().first), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
