#include <cstdint>
#include <limits>

#include "ops/op_values.hpp"

namespace saccade {
namespace {

TEST(Transpose, PermutesDimensions) {
  const Tensor x = counting({2, 3});
  expect_tensor<std::int32_t>(run("Transpose", {x}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_tensor<std::int32_t>(run("Transpose", {x}, {{"perm", Ints{0, 1}}}), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_tensor<std::int32_t>(run("Transpose", {counting({2, 2, 2})}, {{"perm", Ints{1, 2, 0}}}), {2, 2, 2},
                              {0, 4, 1, 5, 2, 6, 3, 7});
  expect_tensor<std::int32_t>(run("Transpose", {counting({2, 0, 3})}), {3, 0, 2}, {});
  expect_tensor<std::int32_t>(run("Transpose", {counting({})}), {}, {0});
}

TEST(Transpose, RejectsOtherThanPermutations) {
  const Tensor x = counting({2, 3});
  for (const Ints& perm : {Ints{0, 0}, Ints{0, 2}, Ints{0}, Ints{0, 1, 2}, Ints{-1, 0}})
    EXPECT_EQ(error_of("Transpose", {x}, {{"perm", perm}}), ErrorCode::kInvalidFile);
}

TEST(Transpose, MovesAnyElementType) {
  const Tensor names = strings({"a", "b", "c", "d"}).reshaped({2, 2});
  EXPECT_EQ(run("Transpose", {names}).strings()[1], "c");
  expect_tensor<bool>(run("Transpose", {Tensor::of<bool>({2, 2}, {true, true, false, false})}), {2, 2},
                      {true, false, true, false});
  Tensor packed(DType::kInt4, {2, 3});  // 1 2 3 / 4 5 6, the first of two in a byte's low half
  packed.raw()[0] = std::byte{0x21};
  packed.raw()[1] = std::byte{0x43};
  packed.raw()[2] = std::byte{0x65};
  const Tensor turned = run("Transpose", {packed});  // 1 4 / 2 5 / 3 6
  EXPECT_EQ(turned.raw()[0], std::byte{0x41});
  EXPECT_EQ(turned.raw()[1], std::byte{0x52});
  EXPECT_EQ(turned.raw()[2], std::byte{0x63});
}

TEST(Slice, CountsFromEitherEndAndClamps) {
  const Tensor x = counting({10});
  const auto slice = [&](const Ints& starts, const Ints& ends) {
    return run("Slice", {x, indices(starts), indices(ends)});
  };
  expect_tensor<std::int32_t>(slice({2}, {5}), {3}, {2, 3, 4});
  expect_tensor<std::int32_t>(slice({-3}, {-1}), {2}, {7, 8});
  expect_tensor<std::int32_t>(slice({8}, {std::numeric_limits<std::int64_t>::max()}), {2}, {8, 9});
  expect_tensor<std::int32_t>(slice({std::numeric_limits<std::int64_t>::min()}, {2}), {2}, {0, 1});
  expect_tensor<std::int32_t>(slice({5}, {2}), {0}, {});
  expect_tensor<std::int32_t>(slice({100}, {200}), {0}, {});
}

TEST(Slice, StepsForwardAndBackward) {
  const Tensor x = counting({10});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    return run("Slice", {x, indices({start}), indices({end}), indices({0}), indices({step})});
  };
  const auto low = std::numeric_limits<std::int64_t>::min();
  const auto high = std::numeric_limits<std::int64_t>::max();
  expect_tensor<std::int32_t>(slice(1, 8, 3), {3}, {1, 4, 7});
  expect_tensor<std::int32_t>(slice(-1, low, -4), {3}, {9, 5, 1});
  expect_tensor<std::int32_t>(slice(3, -100, -1), {4}, {3, 2, 1, 0});
  expect_tensor<std::int32_t>(slice(3, 0, -1), {3}, {3, 2, 1});
  expect_tensor<std::int32_t>(slice(4, high, high), {1}, {4});
  expect_tensor<std::int32_t>(slice(4, low, low), {1}, {4});
  expect_tensor<std::int32_t>(slice(-100, low, -1), {1}, {0});  // where NumPy takes none
}

TEST(Slice, SlicesSeveralAxes) {
  const Tensor x = counting({3, 4});
  expect_tensor<std::int32_t>(run("Slice", {x, indices({1, -1}), indices({3, -5}), indices({0, -1}), indices({1, -2})}),
                              {2, 2}, {7, 5, 11, 9});
  const Tensor start = Tensor::of<std::int32_t>({1}, {1});
  const Tensor end = Tensor::of<std::int32_t>({1}, {2});
  expect_tensor<std::int32_t>(run("Slice", {x, start, end}), {1, 4}, {4, 5, 6, 7});
}

TEST(Slice, TakesEmptyTensors) {
  const Tensor back = indices({-1});
  expect_tensor<std::int32_t>(run("Slice", {counting({0, 2}), back, indices({-9}), indices({0}), back}), {0, 2}, {});
}

TEST(Slice, RejectsNonsense) {
  const Tensor x = counting({4});
  EXPECT_EQ(error_of("Slice", {x, indices({0}), indices({1}), indices({0}), indices({0})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Slice", {x, indices({0}), indices({1}), indices({1})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Slice", {x, indices({0, 0}), indices({1, 1}), indices({0, -1})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Slice", {x, indices({0}), indices({1, 2})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Slice", {counting({}), indices({0}), indices({1})}), ErrorCode::kInvalidFile);
  const OpCall unknown{.op = "Slice", .inputs = {x, indices({0}), indices({1})}, .constant = false};
  EXPECT_EQ(unknown.error().first, ErrorCode::kUnsupported);
}

TEST(Concat, JoinsAlongAnAxis) {
  const Tensor a = counting({2, 2});
  const Tensor b = counting({2, 1});
  expect_tensor<std::int32_t>(run("Concat", {a, b, a}, {{"axis", std::int64_t{1}}}), {2, 5},
                              {0, 1, 0, 0, 1, 2, 3, 1, 2, 3});
  expect_tensor<std::int32_t>(run("Concat", {a, a}, {{"axis", std::int64_t{-2}}}), {4, 2}, {0, 1, 2, 3, 0, 1, 2, 3});
  expect_tensor<std::int32_t>(run("Concat", {counting({0, 2}), a}, {{"axis", std::int64_t{0}}}), {2, 2}, {0, 1, 2, 3});
  EXPECT_EQ(run("Concat", {strings({"a"}), strings({"b"})}, {{"axis", std::int64_t{0}}}).strings()[1], "b");
}

TEST(Concat, RejectsWhatDoesNotFit) {
  const Named axis{{"axis", std::int64_t{0}}};
  EXPECT_EQ(error_of("Concat", {counting({2, 2}), counting({2, 3})}, axis), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Concat", {counting({2}), Tensor::of<float>({1}, {1})}, axis), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Concat", {counting({}), counting({})}, axis), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Concat", {counting({2}), counting({2, 2})}, axis), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Concat", {counting({2})}), ErrorCode::kInvalidFile);
}

TEST(Split, TakesSizesOrANumber) {
  const Tensor x = counting({2, 5});
  const Named axis{{"axis", std::int64_t{1}}};
  const auto sized = OpCall{.op = "Split", .inputs = {x, indices({1, 4})}, .attributes = axis, .outputs = 2}.run();
  expect_tensor<std::int32_t>(sized[0], {2, 1}, {0, 5});
  expect_tensor<std::int32_t>(sized[1], {2, 4}, {1, 2, 3, 4, 6, 7, 8, 9});
  const Named parts{{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{2}}};
  const auto uneven = OpCall{.op = "Split", .inputs = {x}, .attributes = parts, .outputs = 2}.run();
  expect_tensor<std::int32_t>(uneven[0], {2, 3}, {0, 1, 2, 5, 6, 7});
  expect_tensor<std::int32_t>(uneven[1], {2, 2}, {3, 4, 8, 9});
  const auto many = OpCall{.op = "Split", .inputs = {counting({5})}, .outputs = 4}.run();  // 2, 2, 1, 0
  expect_tensor<std::int32_t>(many[2], {1}, {4});
  expect_tensor<std::int32_t>(many[3], {0}, {});
}

TEST(Split, OmitsUnusedOutputs) {
  Graph graph;
  const ValueId y = graph.add_value("y");
  Node node{.op = "Split", .name = "split", .inputs = {graph.add_constant("x", counting({5}))}};
  node.outputs = {ValueId::kNone, y};
  graph.add_node(std::move(node));
  graph.add_output(y);
  infer_types(graph);
  expect_tensor<std::int32_t>(interpret(graph, {}).at(0), {2}, {3, 4});
}

TEST(Split, RejectsSizesThatDoNotAddUp) {
  const Tensor x = counting({4});
  EXPECT_EQ(error_of("Split", {x, indices({1, 2})}, {}, 2), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Split", {x, indices({5, -1})}, {}, 2), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Split", {x, indices({4})}, {}, 2), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Split", {x}, {{"num_outputs", std::int64_t{3}}}, 2), ErrorCode::kInvalidFile);
}

TEST(Expand, RepeatsDimensionsOfOne) {
  expect_tensor<std::int32_t>(run("Expand", {counting({2, 1}), indices({2, 3})}), {2, 3}, {0, 0, 0, 1, 1, 1});
  expect_tensor<std::int32_t>(run("Expand", {counting({2}), indices({2, 1})}), {2, 2}, {0, 1, 0, 1});
  expect_tensor<std::int32_t>(run("Expand", {counting({}), indices({3})}), {3}, {0, 0, 0});
  expect_tensor<std::int32_t>(run("Expand", {counting({1}), indices({0})}), {0}, {});
  EXPECT_EQ(error_of("Expand", {counting({2}), indices({3})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Expand", {counting({1}), indices({-3})}), ErrorCode::kInvalidArgument);
}

TEST(Tile, RepeatsDimensions) {
  expect_tensor<std::int32_t>(run("Tile", {counting({2, 2}), indices({1, 2})}), {2, 4}, {0, 1, 0, 1, 2, 3, 2, 3});
  expect_tensor<std::int32_t>(run("Tile", {counting({2, 1}), indices({2, 3})}), {4, 3},
                              {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  expect_tensor<std::int32_t>(run("Tile", {counting({2}), indices({0})}), {0}, {});
  expect_tensor<std::int32_t>(run("Tile", {counting({}), indices({})}), {}, {0});
  EXPECT_EQ(error_of("Tile", {counting({2}), indices({1, 1})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Tile", {counting({2}), indices({std::numeric_limits<std::int64_t>::max()})}),
            ErrorCode::kUnsupported);
}

TEST(Gather, PicksBlocksAlongAnAxis) {
  const Tensor x = counting({3, 2});
  const Tensor which = Tensor::of<std::int64_t>({2, 1}, {2, -3});
  expect_tensor<std::int32_t>(run("Gather", {x, which}), {2, 1, 2}, {4, 5, 0, 1});
  expect_tensor<std::int32_t>(run("Gather", {x, Tensor::scalar<std::int32_t>(1)}, {{"axis", std::int64_t{1}}}), {3},
                              {1, 3, 5});
  expect_tensor<std::int32_t>(run("Gather", {x, indices({})}), {0, 2}, {});
  EXPECT_EQ(run("Gather", {strings({"a", "b"}), indices({1})}).strings()[0], "b");
}

TEST(Gather, RejectsIndicesOutside) {
  const Tensor x = counting({3, 2});
  for (const std::int64_t index : {std::int64_t{3}, std::int64_t{-4}, std::numeric_limits<std::int64_t>::min()})
    EXPECT_EQ(error_of("Gather", {x, indices({index})}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("Gather", {x, indices({0})}, {{"axis", std::int64_t{2}}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Gather", {counting({}), indices({0})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Gather", {x, Tensor::scalar(1.0F)}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Gather", {counting({0}), indices({0})}), ErrorCode::kInvalidArgument);
}

TEST(GatherElements, PicksElementsAlongAnAxis) {
  const Tensor x = counting({3, 3});
  const Tensor which = Tensor::of<std::int64_t>({2, 3}, {1, 2, 0, 2, 0, -3});
  expect_tensor<std::int32_t>(run("GatherElements", {x, which}), {2, 3}, {3, 7, 2, 6, 1, 2});
  expect_tensor<std::int32_t>(run("GatherElements", {x, which}, {{"axis", std::int64_t{1}}}), {2, 3},
                              {1, 2, 0, 5, 3, 3});
  EXPECT_EQ(error_of("GatherElements", {x, Tensor::of<std::int64_t>({1, 1}, {3})}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("GatherElements", {x, indices({0})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("GatherElements", {counting({1, 1}), which}), ErrorCode::kInvalidFile);
}

TEST(GatherND, PicksByTuples) {
  const Tensor x = counting({2, 2, 2});
  const Tensor deep = Tensor::of<std::int64_t>({2, 3}, {0, 0, 1, 1, -1, 0});
  expect_tensor<std::int32_t>(run("GatherND", {x, deep}), {2}, {1, 6});
  expect_tensor<std::int32_t>(run("GatherND", {x, Tensor::of<std::int64_t>({2, 1}, {1, 0})}), {2, 2, 2},
                              {4, 5, 6, 7, 0, 1, 2, 3});
  expect_tensor<std::int32_t>(
      run("GatherND", {x, Tensor::of<std::int64_t>({2, 1}, {1, 0})}, {{"batch_dims", std::int64_t{1}}}), {2, 2},
      {2, 3, 4, 5});
}

TEST(GatherND, RejectsWhatDoesNotFit) {
  const Tensor x = counting({2, 2});
  EXPECT_EQ(error_of("GatherND", {x, Tensor::of<std::int64_t>({1, 3}, {0, 0, 0})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("GatherND", {x, Tensor::of<std::int64_t>({1, 2}, {0, 2})}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("GatherND", {x, Tensor::scalar<std::int64_t>(0)}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("GatherND", {x, Tensor::of<std::int64_t>({3, 1}, {0, 0, 0})}, {{"batch_dims", std::int64_t{1}}}),
            ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
