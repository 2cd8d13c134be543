#include "vision/attach.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.hpp"
#include "graph/verify.hpp"
#include "ops/interpreter/interpret.hpp"
#include "support/frame_tensor.hpp"
#include "support/graph_builder.hpp"
#include "vision/result_reader.hpp"

namespace saccade {
namespace {

using test::gray_frame;

/// A detector of 32x32 images whose 21 anchors are constants: anchor 0 is class 1 at 4..12, anchor 1 the same weaker,
/// anchor 2 class 0. It adds its input times zero, so that the image is needed.
Graph detector(DType dtype = DType::kFloat32) {
  Tensor rows(DType::kFloat32, {1, 6, 21});
  std::ranges::fill(rows.data<float>(), 0.0F);
  const auto set = [&](std::size_t anchor, std::array<float, 6> column) {
    for (std::size_t i = 0; i < 6; ++i) rows.data<float>()[i * 21 + anchor] = column[i];
  };
  set(0, {8, 8, 8, 8, 0, 0.9F});
  set(1, {8, 8, 8, 9, 0, 0.8F});
  set(2, {20, 20, 8, 8, 0.7F, 0});
  test::GraphBuilder b;
  const ValueId image = b.input("images", {1, 3, 32, 32}, dtype);
  const ValueId wide = b.op("Cast", {image}, {{"to", std::int64_t{1}}});
  const ValueId flat = b.op("Reshape", {wide, b.ints({1, 3072})});
  const ValueId weights = b.constant(test::random_tensor({3072, 126}, 1, 0, 0));
  const ValueId zeros = b.op("Reshape", {b.op("MatMul", {flat, weights}), b.ints({1, 6, 21})});
  return b.build({b.op("Add", {zeros, b.constant(rows)})});
}

Card detector_card(const Graph& graph) {
  Card card;
  card.input = "images";
  card.heads[0].outputs = {graph.value(graph.outputs()[0]).name};
  card.width = card.height = 32;
  card.heads[0].decoder = find_decoder("yolov8");
  card.heads[0].classes = 2;
  card.heads[0].labels = {"cat", "dog"};
  return card;
}

Result run(const Attached& pipeline, const Card& card, const PostprocessOptions& options, const Tensor& frame) {
  std::vector<Tensor> outputs = interpret(pipeline.graph, {{"frame", frame}});
  std::vector<TensorView> views;
  for (Tensor& output : outputs) views.push_back(view_of(output));
  Result result;
  ResultReader reader(card, pipeline.outputs, options);
  reader.prepare(result);
  const std::size_t room = result.detections.capacity() + result.classes.capacity();
  FrameView view;
  std::memcpy(&view, frame.raw(), sizeof view);
  reader.read(views, view.width, view.height, result);
  EXPECT_EQ(result.detections.capacity() + result.classes.capacity(), room);
  return result;
}

TEST(Attach, MakesOneGraphFromFrameToBoxes) {
  Graph model = detector();
  const Card card = detector_card(model);
  const Graph pipeline = attach(std::move(model), card, {}).graph;
  verify(pipeline);
  ASSERT_EQ(pipeline.inputs().size(), 1U);
  EXPECT_EQ(pipeline.value(pipeline.inputs()[0]).type.dtype, DType::kFrame);
  EXPECT_EQ(pipeline.value(pipeline.outputs()[0]).type.shape, (Shape{300, 6}));
  std::map<Stage, int> stages;
  for (NodeId id : pipeline.order()) ++stages[pipeline.node(id).stage];
  EXPECT_EQ(stages[Stage::kPre], 1);
  EXPECT_EQ(stages[Stage::kPost], 2);
}

TEST(Attach, CountsOfRowsAreExtents) {
  Graph model = detector();
  const Card card = detector_card(model);
  const Attached pipeline = attach(std::move(model), card, {});
  const Graph& graph = pipeline.graph;
  const DetectionOutputs& detections = pipeline.outputs.heads.at(0).detections.value();
  EXPECT_EQ(pipeline.outputs.tensors, graph.data_outputs().size());
  ASSERT_EQ(graph.extents().size(), 1U);
  const Extent& extent = graph.extents()[0];
  EXPECT_EQ(extent.output, static_cast<std::size_t>(detections.rows));
  EXPECT_EQ(extent.axis, 0);
  EXPECT_EQ(extent.count, pipeline.outputs.tensors + static_cast<std::size_t>(detections.count));
  EXPECT_EQ(graph.value(graph.outputs()[extent.count]).type, (TensorType{DType::kInt32, {1}}));
}

TEST(Attach, FindsBoxesInSourcePixels) {
  Graph model = detector();
  const Card card = detector_card(model);
  const std::vector<std::uint8_t> pixels(64 * 64, 0);  // at half size in the model
  const Result result = run(attach(std::move(model), card, {}), card, {}, gray_frame(pixels, 64, 64));
  ASSERT_EQ(result.detections.size(), 2U);
  EXPECT_EQ(result.detections[0].box, (std::array<float, 4>{8, 8, 24, 24}));
  EXPECT_EQ(result.detections[0].class_name, "dog");
  EXPECT_EQ(result.detections[0].confidence, 0.9F);
  EXPECT_EQ(result.detections[1].class_name, "cat");
}

TEST(Attach, KeepsTheSelectedClasses) {
  Graph model = detector();
  const Card card = detector_card(model);
  const PostprocessOptions options{.classes = {"0"}};
  const std::vector<std::uint8_t> pixels(64, 0);
  const Result result = run(attach(std::move(model), card, options), card, options, gray_frame(pixels, 8, 8));
  ASSERT_EQ(result.detections.size(), 1U);
  EXPECT_EQ(result.detections[0].class_id, 0);
}

TEST(Attach, CastsPixelsToTheModelsType) {
  Graph model = detector(DType::kUInt8);
  const Card card = detector_card(model);
  const Attached pipeline = attach(std::move(model), card, {});
  verify(pipeline.graph);
  const std::vector<std::uint8_t> pixels(64, 0);
  EXPECT_EQ(run(pipeline, card, {}, gray_frame(pixels, 8, 8)).detections.size(), 2U);
}

TEST(Attach, ReadsClassesFromLogits) {
  // Logits: the mean of the image, and 0.
  test::GraphBuilder b;
  const ValueId image = b.input("images", {1, 1, 2, 2});
  const ValueId flat = b.op("Reshape", {image, b.ints({1, 4})});
  const ValueId weights = b.floats({4, 2}, {0.25F, 0, 0.25F, 0, 0.25F, 0, 0.25F, 0});
  Graph model = b.build({b.op("MatMul", {flat, weights})});
  Card card;
  card.input = "images";
  card.heads[0].outputs = {model.value(model.outputs()[0]).name};
  card.width = card.height = 2;
  card.color = ChannelOrder::kGray;
  card.resize = ResizeMode::kStretch;
  card.heads[0].decoder = find_decoder("classify");
  card.heads[0].labels = {"bright", "dark"};
  card.heads[0].softmax = true;
  card.mean = {10, 10, 10};
  card.std = {10, 10, 10};
  const Attached pipeline = attach(std::move(model), card, {});
  verify(pipeline.graph);
  const std::vector<std::uint8_t> black(4, 0);  // (0 - 10) / 10: logits -1 and 0
  const Result result = run(pipeline, card, {}, gray_frame(black, 2, 2));
  ASSERT_EQ(result.classes.size(), 2U);
  EXPECT_EQ(result.classes[0].class_name, "dark");
  EXPECT_NEAR(result.classes[0].confidence, 0.7311, 1e-4);  // 1 / (1 + exp(-1))
}

TEST(Attach, RejectsInvalidOptions) {
  const Graph model = detector();
  const Card card = detector_card(model);
  EXPECT_THROW(attach(model, card, {.confidence = -0.1F}), Error);
  EXPECT_THROW(attach(model, card, {.iou = 1.5F}), Error);
  EXPECT_THROW(attach(model, card, {.max_detections = 0}), Error);
  EXPECT_THROW(attach(model, card, {.classes = {"2"}}), Error);
  Card wrong = card;
  wrong.width = 16;
  EXPECT_THROW(attach(model, wrong, {}), Error);
}

}  // namespace
}  // namespace saccade
