#include <cmath>
#include <limits>
#include <tuple>

#include "onnx/import.hpp"
#include "ops/run_op.hpp"

// Sizes that are clamped between two numbers, and so have a bound for any data.
namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::Model;
using onnx_writer::tensor;

class IntervalsTest : public ImportTest {
 protected:
  /// "x" (2 numbers), "cut" clamped to -2..3, and a few constants.
  static Model with_cut() {
    Model model(18);
    model.input("x", {2}).input("u", {});
    for (const auto& [name, value] : {std::pair{"minus_two", -2.F},
                                      {"half", 0.5F},
                                      {"one", 1.F},
                                      {"three", 3.F},
                                      {"six", 6.F},
                                      {"large", 1e30F},
                                      {"nan", NAN}})
      model.initializer(tensor<float>(name, {}, {value}));
    model.node({.op = "Clip", .inputs = {"x", "minus_two", "three"}, .outputs = {"cut"}});
    return model;
  }

  /// Zeros with as many rows and columns as "sizes" says.
  static Model zeros_of(Model model) {
    model.node({.op = "Cast", .inputs = {"sizes"}, .outputs = {"whole"}, .attributes = {attribute("to", 7)}});
    model.node({.op = "ConstantOfShape", .inputs = {"whole"}, .outputs = {"y"}, .name = "make"});
    model.output("y");
    return model;
  }

  /// The bound of a size that OP computes from INPUTS; -1 if there is none.
  std::int64_t bound_of(const std::string& op, const std::vector<std::string>& inputs) const {
    return bound_in(zeros_of(with_cut().node({.op = op, .inputs = inputs, .outputs = {"sizes"}})));
  }

  std::int64_t bound_in(const Model& model) const {
    if (const std::string why = error_of(model); !why.empty()) {
      EXPECT_NE(why.find("depends on the model's inputs"), std::string::npos) << why;
      return -1;
    }
    const Graph graph = import(model);
    return graph.value(graph.data_outputs()[0]).type.shape[0];
  }
};

TEST_F(IntervalsTest, FollowWhatIsWorkedOutFromThem) {
  EXPECT_EQ(bound_of("Identity", {"cut"}), 3);
  EXPECT_EQ(bound_of("Add", {"cut", "six"}), 9);
  EXPECT_EQ(bound_of("Sub", {"six", "cut"}), 8);
  EXPECT_EQ(bound_of("Sub", {"cut", "cut"}), 5);
  EXPECT_EQ(bound_of("Mul", {"cut", "six"}), 18);
  EXPECT_EQ(bound_of("Mul", {"cut", "minus_two"}), 4);
  EXPECT_EQ(bound_of("Mul", {"cut", "cut"}), 9);
  EXPECT_EQ(bound_of("Div", {"cut", "half"}), 6);
  EXPECT_EQ(bound_of("Div", {"cut", "minus_two"}), 1);
  EXPECT_EQ(bound_of("Neg", {"cut"}), 2);
  EXPECT_EQ(bound_of("Relu", {"cut"}), 3);
  EXPECT_EQ(bound_of("Ceil", {"cut"}), 3);
  EXPECT_EQ(bound_of("Max", {"cut", "six"}), 6);
  EXPECT_EQ(bound_of("Min", {"cut", "one"}), 1);
  EXPECT_EQ(bound_of("Transpose", {"cut"}), 3);
}

TEST_F(IntervalsTest, AreRoundedAsNumbersAre) {
  for (const auto& [op, bound] : {std::pair{"Ceil", 2}, {"Floor", 1}, {"Round", 2}}) {
    Model model = with_cut();
    model.node({.op = "Mul", .inputs = {"cut", "half"}, .outputs = {"product"}});  // -1 to 1.5
    model.node({.op = op, .inputs = {"product"}, .outputs = {"sizes"}});
    EXPECT_EQ(bound_in(zeros_of(model)), bound) << op;
  }
}

TEST_F(IntervalsTest, HoldWhatIsChosenOrJoined) {
  Model joined = with_cut();
  joined.initializer(tensor<std::int64_t>("first", {1}, {0}));
  joined.initializer(tensor<float>("seven", {1}, {7}));
  joined.node({.op = "Gather", .inputs = {"cut", "first"}, .outputs = {"one_of_them"}});
  joined.node(
      {.op = "Concat", .inputs = {"one_of_them", "seven"}, .outputs = {"sizes"}, .attributes = {attribute("axis", 0)}});
  EXPECT_EQ(bound_in(zeros_of(joined)), 7);

  Model chosen = with_cut();
  chosen.input("which", {2}, onnx_writer::kBool);
  chosen.node({.op = "Where", .inputs = {"which", "cut", "six"}, .outputs = {"sizes"}});
  EXPECT_EQ(bound_in(zeros_of(chosen)), 6);
}

TEST_F(IntervalsTest, EndWhereNothingIsKnown) {
  EXPECT_EQ(bound_of("Identity", {"x"}), -1);
  EXPECT_EQ(bound_of("Add", {"cut", "x"}), -1);
  EXPECT_EQ(bound_of("Max", {"x", "one"}), -1);
  EXPECT_EQ(bound_of("Min", {"cut", "x"}), -1);
  EXPECT_EQ(bound_of("Div", {"one", "cut"}), -1) << "by zero";
  EXPECT_EQ(bound_of("Exp", {"cut"}), -1);
  EXPECT_EQ(bound_of("Mul", {"cut", "large"}), -1) << "more than an int64 holds";
  EXPECT_EQ(bound_of("Add", {"cut", "nan"}), -1);
}

TEST_F(IntervalsTest, OfIntegersClampedOnBothSides) {
  Model model(18);
  model.input("n", {2}, onnx_writer::kInt64);
  model.initializer(tensor<std::int64_t>("none", {1}, {0})).initializer(tensor<std::int64_t>("four", {1}, {4}));
  model.node({.op = "Max", .inputs = {"n", "none"}, .outputs = {"from_none"}});
  model.node({.op = "Min", .inputs = {"from_none", "four"}, .outputs = {"sizes"}});
  EXPECT_EQ(bound_in(zeros_of(model)), 4);

  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  Model uncut(18);
  uncut.input("n", {2}, onnx_writer::kInt64);
  uncut.initializer(tensor<std::int64_t>("none", {}, {0})).initializer(tensor<std::int64_t>("all", {}, {kLargest}));
  uncut.node({.op = "Clip", .inputs = {"n", "none", "all"}, .outputs = {"sizes"}});
  EXPECT_EQ(bound_in(zeros_of(uncut)), -1);
}

TEST_F(IntervalsTest, AreUnknownIfTheBoundIsKnownOnlyAtRunTime) {
  EXPECT_EQ(bound_of("Clip", {"cut", "u"}), -1) << "raised by as much as it likes";
  EXPECT_EQ(bound_of("Clip", {"x", "", "three"}), -1);
  EXPECT_EQ(bound_of("Clip", {"cut", "", "one"}), 1);
}

TEST_F(IntervalsTest, OfIntegerQuotientsAreExact) {
  Model model(18);
  model.input("n", {2}, onnx_writer::kInt32);
  for (const auto& [name, value] : {std::pair{"none", 0}, {"many", 49}})
    model.initializer(tensor<std::int32_t>(name, {}, {value}));
  model.node({.op = "Clip", .inputs = {"n", "none", "many"}, .outputs = {"cut"}});
  model.node({.op = "Div", .inputs = {"cut", "many"}, .outputs = {"sizes"}});
  EXPECT_EQ(bound_in(zeros_of(model)), 1) << "49 * (1 / 49.0) is less";
}

/// "n" clamped to LEAST..MOST as "cut", and NODE's result on it as "y".
Model of_cut(std::int64_t least, std::int64_t most, onnx_writer::Node node) {
  Model model(18);
  model.input("n", {1}, onnx_writer::kInt64);
  for (const auto& [name, value] : {std::pair{"least", least}, {"most", most}})
    model.initializer(tensor<std::int64_t>(name, {}, {value}));
  model.initializer(tensor<std::int64_t>("none", {1}, {0})).initializer(tensor<std::int64_t>("scalar", {0}, {}));
  model.node({.op = "Clip", .inputs = {"n", "least", "most"}, .outputs = {"cut"}});
  node.outputs = {"y"};
  return model.node(node).output("y");
}

TEST_F(IntervalsTest, DoNotMakeDataKnown) {
  const auto run = [&](const Model& model, std::int64_t n) {
    return interpret(import(model), {{"n", Tensor::of<std::int64_t>({1}, {n})}})[0];
  };
  const auto cast = [](int to) {
    return onnx_writer::Node{.op = "Cast", .inputs = {"cut"}, .attributes = {attribute("to", to)}};
  };
  EXPECT_FALSE(run(of_cut(-1, 1, cast(onnx_writer::kBool)), 0).data<bool>()[0]) << "both ends are true";
  EXPECT_EQ(run(of_cut(0, 256, cast(onnx_writer::kUInt8)), 7).data<std::uint8_t>()[0], 7) << "256 comes back as 0";
  const onnx_writer::Node square{.op = "Mul", .inputs = {"cut", "cut"}};
  EXPECT_EQ(run(of_cut(0, std::int64_t{1} << 32, square), 5).data<std::int64_t>()[0], 25) << "so does 2^64";
}

TEST_F(IntervalsTest, LeaveASliceWithANegativeEndItsCapacity) {
  Model model = of_cut(-5, 4, {.op = "Slice", .inputs = {"x", "none", "cut"}});
  model.input("x", {10}, onnx_writer::kInt64);
  const Graph graph = import(model);
  const auto got = interpret(graph, {{"n", Tensor::of<std::int64_t>({1}, {-1})}, {"x", Tensor(DType::kInt64, {10})}});
  expect_tensor<std::int64_t>(got[1], {}, {9});
}

TEST_F(IntervalsTest, BoundARangeFromItsLeastStart) {
  for (const auto& [from, to, step, room, filled] :
       {std::tuple{"start", "ten", "two", 5, 4}, {"ten", "start", "back", 4, 3}}) {
    Model model(18);
    model.input("n", {1}, onnx_writer::kInt64);
    for (const auto& [name, value] : {std::pair{"least", 0}, {"most", 5}, {"ten", 10}, {"two", 2}, {"back", -3}})
      model.initializer(tensor<std::int64_t>(name, {}, {value}));
    model.initializer(tensor<std::int64_t>("scalar", {0}, {}));
    model.node({.op = "Clip", .inputs = {"n", "least", "most"}, .outputs = {"cut"}});
    model.node({.op = "Reshape", .inputs = {"cut", "scalar"}, .outputs = {"start"}});
    model.node({.op = "Range", .inputs = {from, to, step}, .outputs = {"y"}});
    const Graph graph = import(model.output("y"));
    EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{room})) << from;
    const auto got = interpret(graph, {{"n", Tensor::of<std::int64_t>({1}, {3})}});
    expect_tensor<std::int64_t>(got[1], {}, {filled});
  }
}

TEST_F(IntervalsTest, LeaveInputsWhoseContentsAreGivenInputs) {
  Model model = with_cut();
  model.node({.op = "Relu", .inputs = {"cut"}, .outputs = {"y"}});
  ImportOptions options;
  options.contents.emplace("x", Tensor::of<float>({2}, {1, 2}));
  EXPECT_EQ(import(model.output("y"), options).inputs().size(), 2U);

  Model sum = of_cut(0, 5, {.op = "Add", .inputs = {"cut", "k"}});
  sum.input("k", {1}, onnx_writer::kInt64);
  options.contents = {{"k", Tensor::of<std::int64_t>({1}, {7})}};
  EXPECT_EQ(import(sum, options).inputs().size(), 2U);
}

/// An image resized to a box that is clamped to 1 x 1 .. 8 x 8, as torchvision pastes its masks.
Model pasted() {
  Model model(18);
  model.input("image", {1, 1, 2, 2}).input("box", {2});
  model.initializer(tensor<float>("least", {}, {1})).initializer(tensor<float>("most", {}, {8}));
  model.initializer(tensor<std::int64_t>("ones", {2}, {1, 1}));
  model.node({.op = "Clip", .inputs = {"box", "least", "most"}, .outputs = {"cut"}});
  model.node({.op = "Cast", .inputs = {"cut"}, .outputs = {"whole"}, .attributes = {attribute("to", 7)}});
  model.node({.op = "Concat", .inputs = {"ones", "whole"}, .outputs = {"sizes"}, .attributes = {attribute("axis", 0)}});
  model.node({.op = "Resize",
              .inputs = {"image", "", "", "sizes"},
              .outputs = {"y"},
              .attributes = {attribute("mode", "nearest")},
              .name = "paste"});
  return model.output("y");
}

TEST_F(IntervalsTest, BoundAResize) {
  const Graph graph = import(pasted());
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{1, 1, 8, 8}));
  ASSERT_EQ(graph.extents().size(), 2U);

  const auto got = interpret(
      graph, {{"image", Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4})}, {"box", Tensor::of<float>({2}, {-5, 3.9F})}});
  expect_tensor<std::int64_t>(got[1], {}, {1});
  expect_tensor<std::int64_t>(got[2], {}, {3});
  EXPECT_EQ(got[0].data<float>()[0], 1);
  EXPECT_EQ(got[0].data<float>()[2], 2);
  EXPECT_EQ(got[0].data<float>()[3], 0) << "behind what counts";
}

TEST_F(IntervalsTest, AreCheckedWhenTheGraphRuns) {
  const Graph graph = import(pasted());
  EXPECT_THROW(interpret(graph, {{"image", Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4})},
                                 {"box", Tensor::of<float>({2}, {NAN, 2})}}),
               Error)
      << "no number is as large as NaN";
}

}  // namespace
}  // namespace saccade
