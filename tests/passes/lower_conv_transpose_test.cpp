#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;

constexpr const char* kLowered = "Conv DepthToSpace";

struct Layer {
  Shape input{2, 3, 4, 5};
  Shape weights{3, 6, 2, 2};
  std::vector<std::int64_t> strides{2, 2};
  bool bias = true;
  GraphBuilder::AttributeList attributes = {};
  std::vector<PostOp> post_ops = {};
};

/// The operators after the pass; rewrite() compares the results on random numbers.
std::string lowered(Layer layer, bool splits = true) {
  GraphBuilder b;
  std::vector<ValueId> inputs{b.input("x", layer.input), b.random(layer.weights)};
  if (layer.bias) inputs.push_back(b.random({layer.weights[1]}));
  layer.attributes.emplace_back("strides", layer.strides);
  const ValueId y = b.op("ConvTranspose", inputs, layer.attributes);
  b.graph().node(b.graph().value(y).producer).post_ops = layer.post_ops;
  Graph graph = b.build({y});
  test::rewrite(graph, "lower_conv_transpose", {.target = {.splits_conv_transpose = splits}});
  return operators(graph);
}

TEST(LowerConvTranspose, MakesAConvAndDepthToSpace) {
  EXPECT_EQ(lowered({}), kLowered);
  EXPECT_EQ(lowered({.bias = false}), kLowered);
  EXPECT_EQ(lowered({.weights = {3, 1, 3, 3}, .strides = {3, 3}}), kLowered);
  EXPECT_EQ(lowered({.weights = {3, 5, 4, 4}, .strides = {4, 4}}), kLowered);
  EXPECT_EQ(lowered({.post_ops = {{.op = "LeakyRelu", .alpha = 0.2F}}}), "Conv|LeakyRelu DepthToSpace");
}

TEST(LowerConvTranspose, LeavesWindowsThatOverlapOrHaveGaps) {
  EXPECT_EQ(lowered({.weights = {3, 6, 3, 3}}), "ConvTranspose") << "they overlap";
  EXPECT_EQ(lowered({.strides = {3, 3}}), "ConvTranspose") << "gaps";
  EXPECT_EQ(lowered({.weights = {3, 6, 2, 3}, .strides = {2, 3}}), "ConvTranspose") << "no square";
  EXPECT_EQ(lowered({.weights = {3, 6, 1, 1}, .strides = {1, 1}}), "ConvTranspose");
  EXPECT_EQ(lowered({.input = {2, 3, 4}, .weights = {3, 6, 2}, .strides = {2}}), "ConvTranspose") << "one axis";
  EXPECT_EQ(lowered({.attributes = {{"pads", std::vector<std::int64_t>{0, 1, 0, 0}}}}), "ConvTranspose");
  EXPECT_EQ(lowered({.attributes = {{"output_padding", std::vector<std::int64_t>{1, 0}}}}), "ConvTranspose");
  EXPECT_EQ(lowered({.bias = false, .attributes = {{"group", std::int64_t{3}}}}), "ConvTranspose");
}

TEST(LowerConvTranspose, IsForTargetsThatGainByIt) { EXPECT_EQ(lowered({}, false), "ConvTranspose"); }

TEST(LowerConvTranspose, LeavesAnOperandOfTheOutputsPlaces) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 4, 5});
  const ValueId y = b.op("ConvTranspose", {x, b.random({3, 6, 2, 2}), b.random({6}), b.random({1, 6, 8, 10})},
                         {{"strides", std::vector<std::int64_t>{2, 2}}});
  b.graph().node(b.graph().value(y).producer).post_ops = {{.op = "Add", .operand = 3}};
  Graph graph = b.build({y});
  EXPECT_EQ(test::rewrite(graph, "lower_conv_transpose", {.target = {.splits_conv_transpose = true}}), 0);
}

}  // namespace
}  // namespace saccade
