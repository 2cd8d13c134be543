#include <gmock/gmock.h>

#include "import.hpp"
#include "ops/interpreter/interpret.hpp"

namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::Dims;
using onnx_writer::Message;
using onnx_writer::Model;
using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

class UpgradeTest : public ImportTest {
 protected:
  /// The graph of one NODE of operator set OPSET, which reads "x" of DIMS (and INITIALIZERS) and computes "y".
  Graph upgrade(std::int64_t opset, const std::vector<onnx_writer::Dim>& dims, const onnx_writer::Node& node,
                const std::vector<Message>& initializers = {}) const {
    return import(model_of(opset, dims, node, initializers));
  }
  static Model model_of(std::int64_t opset, const std::vector<onnx_writer::Dim>& dims, const onnx_writer::Node& node,
                        const std::vector<Message>& initializers = {}) {
    Model model(opset);
    model.input("x", dims).output("y").node(node);
    for (const Message& tensor : initializers) model.initializer(tensor);
    return model;
  }
  static Shape output_shape(const Graph& graph) { return graph.value(graph.outputs()[0]).type.shape; }
  /// The outputs of the reference kernels for X.
  static Floats run(const Graph& graph, const Shape& shape, const Floats& x) {
    const Tensor y = interpret(graph, {{"x", Tensor::of<float>(shape, x)}})[0];
    return {y.data<float>().begin(), y.data<float>().end()};
  }
};

TEST_F(UpgradeTest, AxesOfSqueezeAndUnsqueeze) {
  const Graph squeeze = upgrade(
      12, {1, 2, 1},
      {.op = "Squeeze", .inputs = {"x"}, .outputs = {"y"}, .attributes = {attribute("axes", Dims{2})}, .name = "n"});
  const Graph unsqueeze = upgrade(
      12, {2},
      {.op = "Unsqueeze", .inputs = {"x"}, .outputs = {"y"}, .attributes = {attribute("axes", Dims{0})}, .name = "n"});

  EXPECT_EQ(constant_input<std::int64_t>(squeeze, only_node(squeeze, "Squeeze"), 1), Ints{2});
  EXPECT_FALSE(only_node(squeeze, "Squeeze").attributes.has("axes"));
  EXPECT_EQ(output_shape(squeeze), (Shape{1, 2}));
  EXPECT_EQ(constant_input<std::int64_t>(unsqueeze, only_node(unsqueeze, "Unsqueeze"), 1), Ints{0});
  EXPECT_EQ(output_shape(unsqueeze), (Shape{1, 2}));
}

TEST_F(UpgradeTest, AxesOfReductions) {
  const auto reduce = [&](std::int64_t opset, const char* op) {
    const Graph graph =
        upgrade(opset, {2, 3},
                {.op = op, .inputs = {"x"}, .outputs = {"y"}, .attributes = {attribute("axes", Dims{1})}, .name = "n"});
    EXPECT_EQ(output_shape(graph), (Shape{2, 1}));
    return constant_input<std::int64_t>(graph, only_node(graph, op), 1);
  };

  EXPECT_EQ(reduce(11, "ReduceSum"), Ints{1});
  EXPECT_EQ(reduce(17, "ReduceMean"), Ints{1});
  EXPECT_EQ(reduce(17, "ReduceMax"), Ints{1});
}

TEST_F(UpgradeTest, AReductionWithoutAxesReducesAll) {
  const Graph graph = upgrade(13, {2, 3}, {.op = "ReduceMean", .inputs = {"x"}, .outputs = {"y"}, .name = "n"});

  EXPECT_EQ(output_shape(graph), (Shape{1, 1}));
}

TEST_F(UpgradeTest, SizesOfSplit) {
  Model model(11);
  model.input("x", {6}).output("a").output("b");
  model.node({.op = "Split",
              .inputs = {"x"},
              .outputs = {"a", "b"},
              .attributes = {attribute("split", Dims{2, 4})},
              .name = "n"});

  const Graph graph = import(model);

  EXPECT_EQ(constant_input<std::int64_t>(graph, only_node(graph, "Split"), 1), (Ints{2, 4}));
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.shape, Shape{4});
}

TEST_F(UpgradeTest, ASplitWithoutSizesIsEven) {
  Model model(13);
  model.input("x", {6}).output("a").output("b").output("c");
  model.node({.op = "Split", .inputs = {"x"}, .outputs = {"a", "b", "c"}, .name = "n"});

  const Graph graph = import(model);

  EXPECT_EQ(only_node(graph, "Split").attributes.integer("num_outputs", 0), 3);
  EXPECT_EQ(graph.value(graph.outputs()[2]).type.shape, Shape{2});
}

TEST_F(UpgradeTest, BoundsOfSlice) {
  const Graph graph =
      upgrade(9, {4, 5},
              {.op = "Slice",
               .inputs = {"x"},
               .outputs = {"y"},
               .attributes = {attribute("starts", Dims{1}), attribute("ends", Dims{3}), attribute("axes", Dims{1})},
               .name = "n"});

  const Node& slice = only_node(graph, "Slice");
  EXPECT_EQ(constant_input<std::int64_t>(graph, slice, 1), Ints{1});
  EXPECT_EQ(constant_input<std::int64_t>(graph, slice, 2), Ints{3});
  EXPECT_EQ(constant_input<std::int64_t>(graph, slice, 3), Ints{1});
  EXPECT_EQ(output_shape(graph), (Shape{4, 2}));
  EXPECT_EQ(error_of(model_of(9, {4}, {.op = "Slice", .inputs = {"x"}, .outputs = {"y"}, .name = "n"})),
            "model.onnx: node 'n' (Slice): the attribute 'starts' is missing");
}

TEST_F(UpgradeTest, PadsAndValueOfPad) {
  const Graph graph = upgrade(10, {2},
                              {.op = "Pad",
                               .inputs = {"x"},
                               .outputs = {"y"},
                               .attributes = {attribute("pads", Dims{1, 2}), attribute("value", 0.5F)},
                               .name = "n"});

  EXPECT_EQ(constant_input<std::int64_t>(graph, only_node(graph, "Pad"), 1), (Ints{1, 2}));
  EXPECT_EQ(constant_input<float>(graph, only_node(graph, "Pad"), 2), Floats{0.5F});
  EXPECT_EQ(output_shape(graph), Shape{5});
}

TEST_F(UpgradeTest, LimitsOfClipHaveTheInputsType) {
  const auto clip = [](const Message& limit) {
    return onnx_writer::Node{.op = "Clip", .inputs = {"x"}, .outputs = {"y"}, .attributes = {limit}, .name = "n"};
  };

  const Graph below = upgrade(10, {2}, clip(attribute("max", 6.0F)));
  Model half(10);
  half.input("x", {2}, onnx_writer::kFloat16).output("y").node(clip(attribute("min", 1.0F)));
  const Graph above = import(half);

  EXPECT_EQ(only_node(below, "Clip").inputs.at(1), ValueId::kNone);
  EXPECT_EQ(constant_input<float>(below, only_node(below, "Clip"), 2), Floats{6});
  EXPECT_EQ(above.constant(only_node(above, "Clip").inputs.at(1))->dtype(), DType::kFloat16);
}

TEST_F(UpgradeTest, KOfTopK) {
  Model model(9);
  model.input("x", {2, 5}).output("v").output("i");
  model.node({.op = "TopK", .inputs = {"x"}, .outputs = {"v", "i"}, .attributes = {attribute("k", 3)}, .name = "n"});

  const Graph graph = import(model);

  EXPECT_EQ(constant_input<std::int64_t>(graph, only_node(graph, "TopK"), 1), Ints{3});
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{2, 3}));
}

TEST_F(UpgradeTest, UpsampleBecomesResize) {
  const Graph old = upgrade(8, {1, 1, 2, 2},
                            {.op = "Upsample",
                             .inputs = {"x"},
                             .outputs = {"y"},
                             .attributes = {attribute("scales", Floats{1, 1, 2, 3}), attribute("mode", "linear")},
                             .name = "n"});
  const Graph newer = upgrade(9, {1, 1, 1, 2}, {.op = "Upsample", .inputs = {"x", "s"}, .outputs = {"y"}, .name = "n"},
                              {onnx_writer::tensor<float>("s", {4}, {1, 1, 1, 2})});

  const Node& resize = only_node(old, "Resize");
  ASSERT_EQ(resize.inputs.size(), 3U);
  EXPECT_EQ(resize.inputs[1], ValueId::kNone);
  EXPECT_EQ(constant_input<float>(old, resize, 2), (Floats{1, 1, 2, 3}));
  EXPECT_EQ(resize.attributes.text("mode"), "linear");
  EXPECT_EQ(resize.attributes.text("coordinate_transformation_mode"), "asymmetric");
  EXPECT_EQ(resize.attributes.text("nearest_mode"), "floor");
  EXPECT_EQ(output_shape(old), (Shape{1, 1, 4, 6}));
  EXPECT_EQ(run(newer, {1, 1, 1, 2}, {3, 4}), (Floats{3, 3, 4, 4}));
}

TEST_F(UpgradeTest, TheFirstResizeRoundsUpWhenItShrinks) {
  const auto nearest_mode = [&](float scale) {
    const Graph graph = upgrade(10, {1, 1, 2, 4}, {.op = "Resize", .inputs = {"x", "s"}, .outputs = {"y"}, .name = "n"},
                                {onnx_writer::tensor<float>("s", {4}, {1, 1, 1, scale})});
    EXPECT_EQ(only_node(graph, "Resize").inputs.size(), 3U);
    return only_node(graph, "Resize").attributes.text("nearest_mode");
  };

  EXPECT_EQ(nearest_mode(2), "floor");
  EXPECT_EQ(nearest_mode(0.5F), "ceil");
}

TEST_F(UpgradeTest, ResizeLosesInputsThatDoNotCount) {
  const Graph graph =
      upgrade(11, {1, 1, 2, 2},
              {.op = "Resize",
               .inputs = {"x", "roi", "scales", "sizes"},
               .outputs = {"y"},
               .attributes = {attribute("coordinate_transformation_mode", "half_pixel")},
               .name = "n"},
              {onnx_writer::tensor<float>("roi", {0}, {}), onnx_writer::tensor<float>("scales", {0}, {}),
               onnx_writer::tensor<std::int64_t>("sizes", {4}, {1, 1, 4, 4})});

  const Node& resize = only_node(graph, "Resize");
  EXPECT_EQ(resize.inputs.at(1), ValueId::kNone);
  EXPECT_EQ(resize.inputs.at(2), ValueId::kNone);
  EXPECT_EQ(constant_input<std::int64_t>(graph, resize, 3), (Ints{1, 1, 4, 4}));
  EXPECT_EQ(output_shape(graph), (Shape{1, 1, 4, 4}));
}

TEST_F(UpgradeTest, TfHalfPixelBecomesHalfPixel) {
  const auto node = [](const char* nearest_mode) {
    return onnx_writer::Node{.op = "Resize",
                             .inputs = {"x", "", "scales"},
                             .outputs = {"y"},
                             .attributes = {attribute("coordinate_transformation_mode", "tf_half_pixel_for_nn"),
                                            attribute("nearest_mode", nearest_mode)},
                             .name = "n"};
  };
  const auto scales = onnx_writer::tensor<float>("scales", {4}, {1, 1, 1, 0.5F});

  const Graph graph = upgrade(11, {1, 1, 1, 4}, node("floor"), {scales});

  EXPECT_EQ(only_node(graph, "Resize").attributes.text("coordinate_transformation_mode"), "half_pixel");
  // floor((0 + 0.5) / 0.5) = 1 and floor((1 + 0.5) / 0.5) = 3
  EXPECT_EQ(run(graph, {1, 1, 1, 4}, {10, 11, 12, 13}), (Floats{11, 13}));
  EXPECT_EQ(error_of(model_of(11, {1, 1, 1, 4}, node("ceil"), {scales})),
            "model.onnx: node 'n' (Resize): tf_half_pixel_for_nn is supported for mode 'nearest', nearest_mode 'floor' "
            "only");
}

TEST_F(UpgradeTest, OldSoftmaxNormalisesAllThatFollowsItsAxis) {
  const auto softmax = [&](std::int64_t opset, const std::vector<onnx_writer::Dim>& dims, int axis) {
    return upgrade(
        opset, dims,
        {.op = "Softmax", .inputs = {"x"}, .outputs = {"y"}, .attributes = {attribute("axis", axis)}, .name = "n"});
  };
  const Floats same(4, 1);

  const Graph flattened = softmax(12, {1, 2, 2}, 1);

  EXPECT_EQ(run(flattened, {1, 2, 2}, same), Floats(4, 0.25F));
  EXPECT_EQ(output_shape(flattened), (Shape{1, 2, 2}));
  EXPECT_EQ(only_node(flattened, "Softmax").attributes.integer("axis", 0), 1);
  EXPECT_EQ(run(softmax(13, {1, 2, 2}, 1), {1, 2, 2}, same), Floats(4, 0.5F));
}

TEST_F(UpgradeTest, OldSoftmaxOverOneDimensionStaysOneNode) {
  const auto axis_of = [&](const std::vector<onnx_writer::Dim>& dims, int axis) {
    const Graph graph = upgrade(
        12, dims,
        {.op = "Softmax", .inputs = {"x"}, .outputs = {"y"}, .attributes = {attribute("axis", axis)}, .name = "n"});
    EXPECT_EQ(graph.order().size(), 1U);
    return only_node(graph, "Softmax").attributes.integer("axis", -9);
  };

  EXPECT_EQ(axis_of({2, 3, 4}, 2), 2);
  EXPECT_EQ(axis_of({2, 3, 4}, -1), 2);
  EXPECT_EQ(axis_of({1, 1000, 1, 1}, 1), 1);
  EXPECT_EQ(axis_of({2, 1, 1, 5}, 1), 3);
  EXPECT_EQ(axis_of({2, 1, 1}, 1), 1);
}

TEST_F(UpgradeTest, DropoutBecomesIdentity) {
  const Graph graph = upgrade(12, {2}, {.op = "Dropout", .inputs = {"x", "r"}, .outputs = {"y", "mask"}, .name = "n"},
                              {onnx_writer::tensor<float>("r", {}, {0.5F})});

  const Node& identity = only_node(graph, "Identity");
  EXPECT_EQ(identity.inputs.size(), 1U);
  EXPECT_EQ(identity.outputs.size(), 1U);
}

TEST_F(UpgradeTest, DropoutStaysWhereItsMaskIsRead) {
  Model model(12);
  model.input("x", {2}).output("y").output("mask");
  model.node({.op = "Dropout", .inputs = {"x"}, .outputs = {"y", "mask"}, .name = "n"});
  const Graph graph = import(model);

  const Node& dropout = only_node(graph, "Dropout");
  EXPECT_EQ(graph.value(dropout.outputs[1]).type, (TensorType{DType::kBool, {2}}));
}

TEST_F(UpgradeTest, TrainingThatDropsNothingIsInference) {
  const Graph graph =
      upgrade(13, {2}, {.op = "Dropout", .inputs = {"x", "r", "t"}, .outputs = {"y"}, .name = "n"},
              {onnx_writer::tensor<float>("r", {}, {0}), onnx_writer::raw_tensor("t", onnx_writer::kBool, {}, "\x01")});

  only_node(graph, "Identity");
}

TEST_F(UpgradeTest, RefusesTraining) {
  EXPECT_EQ(error_of(model_of(13, {2}, {.op = "Dropout", .inputs = {"x", "", "t"}, .outputs = {"y"}, .name = "n"},
                              {onnx_writer::raw_tensor("t", onnx_writer::kBool, {}, "\x01")})),
            "model.onnx: node 'n' (Dropout): it is in training mode; export for inference: model.eval()");
}

TEST_F(UpgradeTest, BatchNormalization) {
  const auto node = [](const std::vector<Message>& attributes) {
    return onnx_writer::Node{.op = "BatchNormalization",
                             .inputs = {"x", "s", "s", "s", "s"},
                             .outputs = {"y"},
                             .attributes = attributes,
                             .name = "n"};
  };
  const std::vector<Message> statistics{onnx_writer::tensor<float>("s", {3}, {1, 1, 1})};

  const Graph graph = upgrade(7, {1, 3, 2}, node({attribute("spatial", 1), attribute("momentum", 0.9F)}), statistics);

  EXPECT_EQ(only_node(graph, "BatchNormalization").attributes.size(), 0U);
  EXPECT_EQ(
      error_of(model_of(7, {1, 3, 2}, node({attribute("spatial", 0)}), statistics)),
      "model.onnx: node 'n' (BatchNormalization): statistics per element (spatial=0) are not supported; export with "
      "a newer operator set");
}

TEST_F(UpgradeTest, BatchNormalizationInTrainingTakesTheStatisticsOfWhatItSees) {
  const std::vector<Message> ones{onnx_writer::tensor<float>("s", {2}, {1, 1})};
  onnx_writer::Node node{
      .op = "BatchNormalization",
      .inputs = {"x", "s", "s", "s", "s"},
      .outputs = {"y", "mean", "variance"},
      .attributes = {attribute("training_mode", 1), attribute("epsilon", 0.0F), attribute("momentum", 0.5F)},
      .name = "n"};
  // Channel 0 has a mean of 2 and a variance of 1, channel 1 one of 12 and 4.
  const Floats x{1, 10, 3, 14};

  EXPECT_EQ(run(upgrade(15, {2, 2, 1}, node, ones), {2, 2, 1}, x), (Floats{0, 0, 2, 2}));

  Model running = model_of(15, {2, 2, 1}, node, ones);
  running.output("mean").output("variance");
  const auto outputs = interpret(import(running), {{"x", Tensor::of<float>({2, 2, 1}, x)}});
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_THAT(outputs[1].data<float>(), testing::ElementsAre(1.5F, 6.5F));
  EXPECT_THAT(outputs[2].data<float>(), testing::ElementsAre(1.0F, 2.5F));
}

TEST_F(UpgradeTest, ModesOfGridSample) {
  const auto mode = [&](const std::vector<Message>& attributes) {
    const Graph graph =
        upgrade(16, {1, 1, 2, 2},
                {.op = "GridSample", .inputs = {"x", "g"}, .outputs = {"y"}, .attributes = attributes, .name = "n"},
                {onnx_writer::tensor<float>("g", {1, 1, 1, 2}, {0, 0})});
    return only_node(graph, "GridSample").attributes.text("mode");
  };

  EXPECT_EQ(mode({}), "linear");
  EXPECT_EQ(mode({attribute("mode", "bilinear")}), "linear");
  EXPECT_EQ(mode({attribute("mode", "bicubic")}), "cubic");
  EXPECT_EQ(mode({attribute("mode", "nearest")}), "nearest");
}

TEST_F(UpgradeTest, GroupNormalizationGetsAScaleForEveryChannel) {
  const Graph graph = upgrade(18, {1, 4, 2},
                              {.op = "GroupNormalization",
                               .inputs = {"x", "s", "s"},
                               .outputs = {"y"},
                               .attributes = {attribute("num_groups", 2)},
                               .name = "n"},
                              {onnx_writer::tensor<float>("s", {2}, {3, 5})});

  const Node& norm = only_node(graph, "GroupNormalization");
  EXPECT_EQ(graph.value(norm.inputs.at(1)).type.shape, Shape{4});
  EXPECT_EQ(graph.value(norm.inputs.at(2)).type.shape, Shape{4});
}

TEST_F(UpgradeTest, OtherDomainsStayAsTheyAre) {
  Model model(11);
  model.opset("com.example", 1).input("x", {1, 2}).output("y");
  model.node({.op = "Squeeze",
              .inputs = {"x"},
              .outputs = {"y"},
              .attributes = {attribute("axes", Dims{0})},
              .name = "n",
              .domain = "com.example"});

  EXPECT_EQ(error_of(model), "model.onnx: 1 operator is not supported: com.example.Squeeze (1 node, e.g. 'n')");
}

}  // namespace
}  // namespace saccade
