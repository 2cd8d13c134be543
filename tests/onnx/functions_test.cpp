#include "import.hpp"

namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::attribute_reference;
using onnx_writer::Function;
using onnx_writer::Model;

class FunctionsTest : public ImportTest {};

constexpr int kInts = 7;

/// Opset 11, where Unsqueeze's axes are an attribute.
Function unsqueeze_function() {
  return {.domain = "ours",
          .name = "Widen",
          .inputs = {"in"},
          .outputs = {"out"},
          .nodes = {{.op = "Unsqueeze",
                     .inputs = {"in"},
                     .outputs = {"wide"},
                     .attributes = {attribute_reference("axes", "where", kInts)},
                     .name = "widen"},
                    {.op = "Identity", .inputs = {"wide"}, .outputs = {"out"}}},
          .attributes = {},
          .defaults = {attribute("where", onnx_writer::Dims{0})},
          .opsets = {{"", 11}},
          .overload = {}};
}

Model calling(const Function& function, onnx_writer::Node call) {
  Model model(13);
  model.opset("ours", 1).function(function).input("x", {5}).output("y").node(call);
  return model;
}

TEST_F(FunctionsTest, ABodyTakesItsCallsPlaceWithItsOwnOperatorSetAndAttributes) {
  const onnx_writer::Node call{.op = "Widen",
                               .inputs = {"x"},
                               .outputs = {"y"},
                               .attributes = {attribute("where", onnx_writer::Dims{0, 2})},
                               .name = "call",
                               .domain = "ours"};

  const Graph graph = import(calling(unsqueeze_function(), call));

  const saccade::Node& unsqueeze = only_node(graph, "Unsqueeze");
  EXPECT_EQ(unsqueeze.name, "call/widen");
  EXPECT_EQ(graph.value(unsqueeze.outputs[0]).name, "call/wide");
  EXPECT_EQ(constant_input<std::int64_t>(graph, unsqueeze, 1), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "y");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{1, 5, 1}));
}

TEST_F(FunctionsTest, AnOmittedAttributeHasItsDefault) {
  const onnx_writer::Node call{.op = "Widen", .inputs = {"x"}, .outputs = {"y"}, .name = "call", .domain = "ours"};

  const Graph graph = import(calling(unsqueeze_function(), call));

  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{1, 5}));
}

TEST_F(FunctionsTest, TwoCallsShareNoNames) {
  Model model(13);
  model.opset("ours", 1).function(unsqueeze_function()).input("x", {5}).output("z");
  model.node({.op = "Widen", .inputs = {"x"}, .outputs = {"y"}, .name = "one", .domain = "ours"});
  model.node({.op = "Widen", .inputs = {"y"}, .outputs = {"z"}, .name = "two", .domain = "ours"});

  const Graph graph = import(model);

  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{1, 1, 5}));
  EXPECT_EQ(graph.node(graph.order()[0]).name, "one/widen");
  EXPECT_EQ(graph.node(graph.order()[2]).name, "two/widen");
}

TEST_F(FunctionsTest, FunctionsCallFunctionsAndPassTheirAttributesOn) {
  const Function outer{.domain = "ours",
                       .name = "Outer",
                       .inputs = {"a"},
                       .outputs = {"b"},
                       .nodes = {{.op = "Widen",
                                  .inputs = {"a"},
                                  .outputs = {"b"},
                                  .attributes = {attribute_reference("where", "axes", kInts)},
                                  .name = "inner",
                                  .domain = "ours"}},
                       .attributes = {"axes"},
                       .defaults = {},
                       .opsets = {{"ours", 1}},
                       .overload = {}};
  Model model = calling(outer, {.op = "Outer",
                                .inputs = {"x"},
                                .outputs = {"y"},
                                .attributes = {attribute("axes", onnx_writer::Dims{1})},
                                .name = "call",
                                .domain = "ours"});
  model.function(unsqueeze_function());

  const Graph graph = import(model);

  EXPECT_EQ(only_node(graph, "Unsqueeze").name, "call/inner/widen");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{5, 1}));
}

TEST_F(FunctionsTest, ChoosesByOverload) {
  Function first = unsqueeze_function();
  Function second = unsqueeze_function();
  second.overload = "last";
  second.defaults = {attribute("where", onnx_writer::Dims{1})};
  Model model = calling(first, {.op = "Widen",
                                .inputs = {"x"},
                                .outputs = {"y"},
                                .attributes = {},
                                .name = "call",
                                .domain = "ours",
                                .overload = "last"});
  model.function(second);

  const Graph graph = import(model);

  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{5, 1}));
}

TEST_F(FunctionsTest, AnInputMayBeForwardedOrOmitted) {
  const Function function{.domain = "ours",
                          .name = "Pass",
                          .inputs = {"a", "axes"},
                          .outputs = {"a", "b"},
                          .nodes = {{.op = "Squeeze", .inputs = {"a", "axes"}, .outputs = {"b"}}},
                          .attributes = {},
                          .defaults = {},
                          .opsets = {{"", 13}},
                          .overload = {}};
  Model model(13);
  model.opset("ours", 1).function(function).input("x", {5, 1}).output("same").output("squeezed");
  model.node({.op = "Pass", .inputs = {"x"}, .outputs = {"same", "squeezed"}, .domain = "ours"});

  const Graph graph = import(model);

  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{5, 1}));
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.shape, Shape{5});
  EXPECT_EQ(only_node(graph, "Squeeze").inputs.at(1), ValueId::kNone);
}

TEST_F(FunctionsTest, AConstantInABodyTakesItsValueFromTheCall) {
  const Function function{.domain = "ours",
                          .name = "Number",
                          .inputs = {},
                          .outputs = {"c"},
                          .nodes = {{.op = "Constant",
                                     .inputs = {},
                                     .outputs = {"c"},
                                     .attributes = {attribute_reference("value_float", "number", 1)}}},
                          .attributes = {"number"},
                          .defaults = {},
                          .opsets = {{"", 13}},
                          .overload = {}};
  const onnx_writer::Node call{.op = "Number",
                               .inputs = {},
                               .outputs = {"y"},
                               .attributes = {attribute("number", 2.5F)},
                               .name = "call",
                               .domain = "ours"};

  const Graph graph = import(calling(function, call));

  EXPECT_EQ(graph.constant(graph.outputs()[0])->data<float>()[0], 2.5F);
}

TEST_F(FunctionsTest, RefusesFunctionsThatCallThemselves) {
  Function function = unsqueeze_function();
  function.nodes = {
      {.op = "Widen", .inputs = {"in"}, .outputs = {"out"}, .attributes = {}, .name = "again", .domain = "ours"}};

  const std::string error =
      error_of(calling(function, {.op = "Widen", .inputs = {"x"}, .outputs = {"y"}, .name = "call", .domain = "ours"}));

  EXPECT_NE(error.find("(Widen): the function 'Widen' calls itself, or calls are nested too deeply"), std::string::npos)
      << error;
}

TEST_F(FunctionsTest, RefusesCallsThatDoNotFit) {
  EXPECT_EQ(
      error_of(calling(unsqueeze_function(),
                       {.op = "Widen", .inputs = {"x", "x"}, .outputs = {"y"}, .name = "call", .domain = "ours"})),
      "model.onnx: node 'call' (Widen): it has more inputs or outputs than the function 'Widen'");
  Function twice = unsqueeze_function();
  twice.inputs = {"in", "in"};
  EXPECT_EQ(
      error_of(calling(twice, {.op = "Widen", .inputs = {"x"}, .outputs = {"y"}, .name = "call", .domain = "ours"})),
      "model.onnx: node 'call' (Widen): the function 'Widen' has two inputs 'in'");
  Model model = calling(unsqueeze_function(),
                        {.op = "Widen", .inputs = {"x"}, .outputs = {"y"}, .name = "call", .domain = "ours"});
  EXPECT_EQ(error_of(model.function(unsqueeze_function())), "model.onnx: two functions are named 'ours.Widen'");
}

TEST_F(FunctionsTest, RefusesBodiesThatNeverMakeTheirOutput) {
  Function function = unsqueeze_function();
  function.nodes.pop_back();

  EXPECT_EQ(
      error_of(calling(function, {.op = "Widen", .inputs = {"x"}, .outputs = {"y"}, .name = "call", .domain = "ours"})),
      "model.onnx: no node produces the output 'y'");
}

TEST_F(FunctionsTest, CallsThatAreGivenTooManyNamesTogetherAreRefused) {
  // A hundred thousand inputs, a hundred calls: ten million names out of a small file.
  Function wide{.domain = "ours",
                .name = "Wide",
                .inputs = {"in"},
                .outputs = {"out"},
                .nodes = {{.op = "Relu", .inputs = {"in"}, .outputs = {"out"}}},
                .opsets = {{"", 13}}};
  for (int i = 0; i < 100'000; ++i) wide.inputs.push_back(fmt::format("in{}", i));
  Model model(13);
  model.opset("ours", 1).function(wide).input("x", {5}).output("y0");
  for (int i = 0; i < 100; ++i)
    model.node({.op = "Wide", .inputs = {"x"}, .outputs = {fmt::format("y{}", i)}, .domain = "ours"});

  EXPECT_EQ(
      error_of(model),
      "model.onnx: node 'y49' (Wide): the calls of functions and the sub-graphs up to here have more than 5000000 "
      "inputs, attributes and operator sets together, which is not supported");
}

}  // namespace
}  // namespace saccade
