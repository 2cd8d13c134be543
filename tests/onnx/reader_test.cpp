#include "import.hpp"

namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::Model;

class ReaderTest : public ImportTest {};

/// y = Identity(x), x of DIMS.
Model identity(const std::vector<onnx_writer::Dim>& dims) {
  Model model(13);
  model.input("x", dims).node({.op = "Identity", .inputs = {"x"}, .outputs = {"y"}, .name = "copy"}).output("y");
  return model;
}

TEST_F(ReaderTest, ReadsInputsOutputsNodesAndMetadata) {
  Model model = identity({1, 3, 4, 5});
  model.metadata("task", "detect");

  const Graph graph = import(model);

  ASSERT_EQ(graph.inputs().size(), 1U);
  ASSERT_EQ(graph.outputs().size(), 1U);
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "x");
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "y");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type, (TensorType{DType::kFloat32, {1, 3, 4, 5}}));
  EXPECT_EQ(only_node(graph, "Identity").name, "copy");
  EXPECT_EQ(graph.metadata.at("task"), "detect");
}

TEST_F(ReaderTest, NodesNeedNotBeInOrder) {
  Model model(13);
  model.input("x", {2}).output("z");
  model.node({.op = "Identity", .inputs = {"y"}, .outputs = {"z"}});
  model.node({.op = "Identity", .inputs = {"x"}, .outputs = {"y"}});

  const Graph graph = import(model);

  EXPECT_EQ(graph.node(graph.order()[0]).name, "y");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, Shape{2});
}

TEST_F(ReaderTest, GivesEveryNodeANameOfItsOwn) {
  Model model(13);
  model.input("x", {2}).output("y").output("z");
  model.node({.op = "Identity", .inputs = {"x"}, .outputs = {"y"}, .name = "same"});
  model.node({.op = "Identity", .inputs = {"x"}, .outputs = {"z"}, .name = "same"});

  const Graph graph = import(model);

  EXPECT_EQ(graph.node(graph.order()[0]).name, "same");
  EXPECT_EQ(graph.node(graph.order()[1]).name, "same_2");
}

TEST_F(ReaderTest, AnInputThatIsAlsoAnInitializerIsAConstant) {
  Model model(13, 3);
  model.input("x", {2}).input("shape", {2}, onnx_writer::kInt64).output("y");
  model.initializer(onnx_writer::tensor<std::int64_t>("shape", {2}, {2, 1}));
  model.node({.op = "Reshape", .inputs = {"x", "shape"}, .outputs = {"y"}});

  const Graph graph = import(model);

  ASSERT_EQ(graph.inputs().size(), 1U);
  EXPECT_EQ(constant_input<std::int64_t>(graph, only_node(graph, "Reshape"), 1), (std::vector<std::int64_t>{2, 1}));
}

TEST_F(ReaderTest, AnEmptyInputNameLeavesTheInputOut) {
  Model model(13);
  model.input("x", {2, 1}).output("y").node({.op = "Squeeze", .inputs = {"x", ""}, .outputs = {"y"}});

  const Graph graph = import(model);

  EXPECT_EQ(only_node(graph, "Squeeze").inputs.at(1), ValueId::kNone);
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, Shape{2});
}

TEST_F(ReaderTest, AnInputMayBeAnOutput) {
  Model model(13);
  model.input("x", {2}).output("x");

  const Graph graph = import(model);

  EXPECT_EQ(graph.inputs()[0], graph.outputs()[0]);
}

TEST_F(ReaderTest, ConstantNodesBecomeConstants) {
  const auto value_of = [&](const onnx_writer::Message& value) {
    Model model(13);
    model.output("c").node({.op = "Constant", .outputs = {"c"}, .attributes = {value}});
    const Graph graph = import(model);
    EXPECT_TRUE(graph.order().empty());
    return *graph.constant(graph.outputs()[0]);
  };

  EXPECT_EQ(value_of(attribute("value", onnx_writer::tensor<float>("", {2}, {1, 2}))).data<float>()[1], 2);
  EXPECT_EQ(value_of(attribute("value_float", 1.5F)).data<float>()[0], 1.5F);
  EXPECT_EQ(value_of(attribute("value_int", 7)).data<std::int64_t>()[0], 7);
  EXPECT_EQ(value_of(attribute("value_int", 7)).shape(), Shape{});
  EXPECT_EQ(value_of(attribute("value_string", "abc")).strings()[0], "abc");
  EXPECT_EQ(value_of(attribute("value_floats", std::vector<float>{1, 2, 3})).shape(), Shape{3});
  EXPECT_EQ(value_of(attribute("value_ints", onnx_writer::Dims{4, 5})).data<std::int64_t>()[1], 5);
  EXPECT_EQ(value_of(attribute("value_strings", std::vector<std::string>{"a", "b"})).strings()[1], "b");
}

TEST_F(ReaderTest, SymbolicDimensionsAreOneOrAsRequested) {
  const Model model = identity({"batch", 3, "height", ""});
  const auto shape = [&](const ImportOptions& options) {
    const Graph graph = import(model, options);
    return graph.value(graph.outputs()[0]).type.shape;
  };

  EXPECT_EQ(shape({}), (Shape{1, 3, 1, 1}));
  EXPECT_EQ(shape({.shapes = {{"x", {2, 3, 64, 32}}}}), (Shape{2, 3, 64, 32}));
  EXPECT_EQ(shape({.shapes = {{"", {2, 3, 64, 32}}}}), (Shape{2, 3, 64, 32})) << "of the only input";
  EXPECT_EQ(shape({.dimensions = {{"height", 8}}}), (Shape{1, 3, 8, 1}));
}

TEST_F(ReaderTest, ADimensionHasOneSizeInAllInputs) {
  Model model(13);
  model.input("a", {"n", 2}).input("b", {"n", 3}).output("b");

  const Graph graph = import(model, {.shapes = {{"a", {5, 2}}}});

  EXPECT_EQ(graph.value(graph.inputs()[1]).type.shape, (Shape{5, 3}));
}

TEST_F(ReaderTest, AQuestionMarkIsNoNameOfADimension) {
  Model model(13);
  model.input("x", {1, 3, "?", "?"}).output("x");

  const Graph graph = import(model, {.shapes = {{"x", {1, 3, 48, 192}}}});

  EXPECT_EQ(graph.value(graph.inputs()[0]).type.shape, (Shape{1, 3, 48, 192}));
  EXPECT_EQ(error_of(model, {.dimensions = {{"?", 8}}}),
            "model.onnx: a size is given for the dimension '?', which no input has; the inputs are 'x' [1, 3, ?, ?]");
}

TEST_F(ReaderTest, AnInputOfUnknownRankTakesTheRequestedShape) {
  Model model(13);
  model.input(onnx_writer::value_info_without_shape("x")).output("x");

  const Graph graph = import(model, {.shapes = {{"x", {1, 2}}}});

  EXPECT_EQ(graph.value(graph.inputs()[0]).type.shape, (Shape{1, 2}));
  EXPECT_EQ(error_of(model), "model.onnx: input 'x': the file does not define its shape; give it: --shape x=1x3x...");
}

TEST_F(ReaderTest, RefusesShapesThatContradictTheModel) {
  const Model model = identity({"batch", 3, 8});

  EXPECT_EQ(error_of(model, {.shapes = {{"images", {1, 3, 8}}}}),
            "model.onnx: a shape is given for 'images', which is not an input; the inputs are 'x' [batch, 3, 8]");
  EXPECT_EQ(error_of(model, {.shapes = {{"x", {1, 3}}}}),
            "model.onnx: the input 'x' is [batch, 3, 8] and can't be given the shape 1x3: it has 3 dimensions, not 2");
  EXPECT_EQ(
      error_of(model, {.shapes = {{"x", {1, 4, 8}}}}),
      "model.onnx: the input 'x' is [batch, 3, 8] and can't be given the shape 1x4x8: the model fixes dimension 1 at "
      "3; export it with dynamic axes");
  EXPECT_EQ(error_of(model, {.shapes = {{"x", {-2, 3, 8}}}}),
            "model.onnx: the input 'x' is [batch, 3, 8] and can't be given the shape -2x3x8: a size is negative");
  EXPECT_EQ(
      error_of(model, {.dimensions = {{"width", 8}}}),
      "model.onnx: a size is given for the dimension 'width', which no input has; the inputs are 'x' [batch, 3, 8]");
  EXPECT_EQ(error_of(model, {.shapes = {{"x", {2, 3, 8}}}, .dimensions = {{"batch", 4}}}),
            "model.onnx: the dimension 'batch' can't be both 2 and 4");
}

/// y = Reshape(x, shape), both inputs.
Model reshape() {
  Model model(13);
  model.input("x", {6}).input("shape", {2}, onnx_writer::kInt64).output("y");
  return model.node({.op = "Reshape", .inputs = {"x", "shape"}, .outputs = {"y"}, .name = "reshape"});
}

TEST_F(ReaderTest, AnInputThatAShapeDependsOnBecomesAConstant) {
  const Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
  const Tensor shape = Tensor::of<std::int64_t>({2}, {2, 3});

  const Graph graph = import(reshape(), {.contents = {{"x", x}, {"shape", shape}}});

  ASSERT_EQ(graph.inputs().size(), 1U);
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "x");
  EXPECT_EQ(constant_input<std::int64_t>(graph, only_node(graph, "Reshape"), 1), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{2, 3}));
  EXPECT_NE(error_of(reshape()).find("depends on the model's inputs"), std::string::npos);
}

TEST_F(ReaderTest, RefusesContentsThatContradictTheModel) {
  const Tensor tensor = Tensor::of<std::int64_t>({1}, {6});

  EXPECT_EQ(error_of(reshape(), {.contents = {{"shape", tensor}}}),
            "model.onnx: the input 'shape' is int64 2 and can't hold int64 1");
  EXPECT_EQ(error_of(reshape(), {.contents = {{"target", tensor}}}),
            "model.onnx: contents are given for 'target', which is not an input");
}

TEST_F(ReaderTest, ReadsTensorFilesAndInputNames) {
  write("tensor.pb", onnx_writer::tensor<float>("t", {2}, {1, 2}).bytes());
  write("nothing.pb", "");
  Model model = reshape();
  model.initializer(onnx_writer::tensor<std::int64_t>("shape", {2}, {2, 3}));
  model.save(file("model.onnx"));
  const auto& reader = module<OnnxModule>("onnx");

  EXPECT_EQ(reader.read_tensor(file("tensor.pb"), 0).data<float>()[1], 2);
  EXPECT_EQ(reader.input_names(file("model.onnx"), 0), std::vector<std::string>{"x"});
  EXPECT_THROW(reader.read_tensor(file("nothing.pb"), 0), Error);
  EXPECT_THROW(reader.read_tensor(file("nowhere.pb"), 0), Error);
}

}  // namespace
}  // namespace saccade
