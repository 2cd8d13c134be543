#include "import.hpp"
#include "ops/interpreter/interpret.hpp"

namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::Dims;
using onnx_writer::Message;
using onnx_writer::Model;
using onnx_writer::tensor;
using Floats = std::vector<float>;

/// com.microsoft's operators on "x" and initializers; their outputs are "y" and "z".
class MicrosoftTest : public ImportTest {
 protected:
  static Model model_of(const std::vector<onnx_writer::Dim>& dims, onnx_writer::Node node,
                        const std::vector<Message>& initializers, int data_type = onnx_writer::kFloat) {
    node.domain = "com.microsoft";
    node.name = "n";
    if (node.outputs.empty()) node.outputs = {"y"};
    Model model(17);
    model.opset("com.microsoft", 1).input("x", dims, data_type).node(node);
    for (const std::string& output : node.outputs)
      if (!output.empty()) model.output(output);
    for (const Message& constant : initializers) model.initializer(constant);
    return model;
  }
  /// The outputs of the reference kernels for X.
  std::vector<Floats> run(const Shape& shape, const Floats& x, const onnx_writer::Node& node,
                          const std::vector<Message>& initializers = {}) const {
    std::vector<onnx_writer::Dim> dims;
    for (const std::int64_t dim : shape) dims.emplace_back(static_cast<int>(dim));
    const Graph graph = import(model_of(dims, node, initializers));
    std::vector<Floats> outputs;
    for (const Tensor& output : interpret(graph, {{"x", Tensor::of<float>(shape, x)}}))
      outputs.emplace_back(output.data<float>().begin(), output.data<float>().end());
    return outputs;
  }
};

TEST_F(MicrosoftTest, FusedConvAddsAndActivates) {
  const auto outputs =
      run({1, 1, 1, 3}, {1, 2, 3},
          {.op = "FusedConv",
           .inputs = {"x", "w", "", "z"},
           .attributes = {attribute("activation", "LeakyRelu"), attribute("activation_params", Floats{0.5F})}},
          {tensor<float>("w", {1, 1, 1, 1}, {2}), tensor<float>("z", {1, 1, 1, 3}, {1, -8, 0})});

  EXPECT_EQ(outputs[0], (Floats{3, -2, 6}));
}

TEST_F(MicrosoftTest, FusedConvOfAnotherActivationIsRefused) {
  const Model model =
      model_of({1, 1, 1, 3}, {.op = "FusedConv", .inputs = {"x", "w"}, .attributes = {attribute("activation", "Sine")}},
               {tensor<float>("w", {1, 1, 1, 1}, {2})});

  EXPECT_EQ(error_of(model), "model.onnx: node 'n' (FusedConv): the fused activation 'Sine' is not supported");
}

TEST_F(MicrosoftTest, NhwcConvKeepsItsChannelsLast) {
  // The two channels of every pixel, by weights 1 and 10.
  const auto outputs = run({1, 1, 2, 2}, {1, 2, 3, 4}, {.op = "NhwcConv", .inputs = {"x", "w"}},
                           {tensor<float>("w", {1, 2, 1, 1}, {1, 10})});

  EXPECT_EQ(outputs[0], (Floats{21, 43}));
}

TEST_F(MicrosoftTest, FusedMatMulTurnsTheFirstDimensionOfABatch) {
  // A is (rows, batch, depth).
  const auto outputs = run({2, 2, 1}, {1, 2, 3, 4},
                           {.op = "FusedMatMul",
                            .inputs = {"x", "b"},
                            .attributes = {attribute("transBatchA", 1), attribute("alpha", 0.5F)}},
                           {tensor<float>("b", {2, 1, 1}, {2, 20})});

  EXPECT_EQ(outputs[0], (Floats{1, 3, 20, 40}));
}

TEST_F(MicrosoftTest, SkipLayerNormalizationShowsItsSum) {
  const auto outputs =
      run({1, 2}, {1, 5},
          {.op = "SkipLayerNormalization", .inputs = {"x", "skip", "gamma", "", "bias"}, .outputs = {"y", "", "", "z"}},
          {tensor<float>("skip", {1, 2}, {2, 2}), tensor<float>("gamma", {2}, {1, 3}),
           tensor<float>("bias", {2}, {10, 10})});

  EXPECT_NEAR(outputs[0][0], -1, 1e-6);
  EXPECT_NEAR(outputs[0][1], 3, 1e-6);
  EXPECT_EQ(outputs[1], (Floats{13, 17}));
}

TEST_F(MicrosoftTest, QuickGeluOfAlphaOneIsSilu) {
  const Graph graph =
      import(model_of({1}, {.op = "QuickGelu", .inputs = {"x"}, .attributes = {attribute("alpha", 1.0F)}}, {}));

  only_node(graph, "Sigmoid");
  only_node(graph, "Mul");
}

TEST_F(MicrosoftTest, MultiHeadAttentionTakesPackedKeysAndAMask) {
  // One head of size 1; with keys of 0 all scores are equal, so that the output is the mean of the values 3 and 9, the
  // third masked.
  const auto outputs = run(
      {1, 1, 1}, {1},
      {.op = "MultiHeadAttention", .inputs = {"x", "kv", "", "", "mask"}, .attributes = {attribute("num_heads", 1)}},
      {tensor<float>("kv", {1, 3, 1, 2, 1}, {0, 3, 0, 9, 0, 100}), tensor<std::int32_t>("mask", {1, 3}, {1, 1, 0})});

  EXPECT_EQ(outputs[0], Floats{6});
}

TEST_F(MicrosoftTest, MultiHeadAttentionAddsEachPartOfItsBias) {
  // Values 3 and 9 plus 1; with a single key the biases of query and key have no effect.
  const auto outputs =
      run({1, 1, 1}, {1},
          {.op = "MultiHeadAttention", .inputs = {"x", "k", "v", "bias"}, .attributes = {attribute("num_heads", 1)}},
          {tensor<float>("k", {1, 1, 1}, {2}), tensor<float>("v", {1, 1, 2}, {3, 9}),
           tensor<float>("bias", {4}, {5, 7, 1, 2})});

  EXPECT_EQ(outputs[0], (Floats{4, 11}));
}

TEST_F(MicrosoftTest, MultiHeadAttentionOfLengthsIsRefused) {
  const Model model = model_of(
      {1, 1, 1},
      {.op = "MultiHeadAttention", .inputs = {"x", "k", "k", "", "lengths"}, .attributes = {attribute("num_heads", 1)}},
      {tensor<float>("k", {1, 1, 1}, {2}), tensor<std::int32_t>("lengths", {1}, {1})});

  EXPECT_NE(error_of(model).find("key_padding_mask of shape 1 is not supported"), std::string::npos) << error_of(model);
}

TEST_F(MicrosoftTest, PoolsChannelsLast) {
  Model model = model_of({1, 1, 2, 2},
                         {.op = "QLinearGlobalAveragePool",
                          .inputs = {"x", "scale", "zero", "scale", "zero"},
                          .attributes = {attribute("channels_last", 1)}},
                         {tensor<float>("scale", {}, {1}), tensor<std::uint8_t>("zero", {}, {0})}, onnx_writer::kUInt8);
  const Graph graph = import(model);
  const Tensor y = interpret(graph, {{"x", Tensor::of<std::uint8_t>({1, 1, 2, 2}, {1, 2, 3, 4})}})[0];

  EXPECT_EQ(y.shape(), (Shape{1, 1, 1, 2}));
  EXPECT_EQ(y.data<std::uint8_t>()[0], 2);
  EXPECT_EQ(y.data<std::uint8_t>()[1], 3);
}

TEST_F(MicrosoftTest, QGemmIsAnIntegerProductBroughtBackToScale) {
  const std::vector<Message> constants{tensor<float>("half", {}, {0.5F}),        tensor<std::uint8_t>("one", {}, {1}),
                                       tensor<std::int8_t>("w", {1, 2}, {2, 3}), tensor<std::int8_t>("zero", {}, {0}),
                                       tensor<std::int32_t>("c", {1}, {4}),      tensor<std::uint8_t>("ten", {}, {10})};
  const auto run_gemm = [&](std::vector<std::string> inputs) {
    const Graph graph =
        import(model_of({1, 2}, {.op = "QGemm", .inputs = std::move(inputs), .attributes = {attribute("transB", 1)}},
                        constants, onnx_writer::kUInt8));
    return interpret(graph, {{"x", Tensor::of<std::uint8_t>({1, 2}, {3, 5})}})[0];
  };

  // (2 * 2 + 4 * 3 + 4) / 4
  EXPECT_EQ(run_gemm({"x", "half", "one", "w", "half", "zero", "c"}).data<float>()[0], 5);
  EXPECT_EQ(run_gemm({"x", "half", "one", "w", "half", "zero", "", "", ""}).data<float>()[0], 4);
  EXPECT_EQ(run_gemm({"x", "half", "one", "w", "half", "zero", "c", "half", "ten"}).data<std::uint8_t>()[0], 20);
}

TEST_F(MicrosoftTest, AnOperatorOfNeitherIsRefused) {
  EXPECT_NE(error_of(model_of({1}, {.op = "Inverse", .inputs = {"x"}}, {})).find("com.microsoft.Inverse"),
            std::string::npos);
}

}  // namespace
}  // namespace saccade
