#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "graph/verify.hpp"
#include "ops/interpreter/interpret.hpp"
#include "ops/vision/portable_math.hpp"
#include "support/frame_tensor.hpp"
#include "vision/cards/recognise.hpp"
#include "vision/result_reader.hpp"

namespace saccade {
namespace {

struct Output {
  std::string name;
  Tensor tensor;
};

/// A model whose outputs are constants, over an image of WIDTH x HEIGHT.
Graph model_of(const std::vector<Output>& outputs, std::int64_t width, std::int64_t height, std::int64_t channels = 3) {
  Graph graph;
  graph.add_input("images", {DType::kFloat32, {1, channels, height, width}});
  for (const Output& output : outputs) {
    const ValueId constant = graph.add_constant(output.name + ".constant", output.tensor);
    const ValueId made = graph.add_value(output.name, {output.tensor.dtype(), output.tensor.shape()});
    graph.add_node({.op = "Identity", .name = output.name, .inputs = {constant}, .outputs = {made}});
    graph.add_output(made);
  }
  return graph;
}

/// A model run on one black frame; keeps what the result points to.
struct OneFrame {
  Card card;
  Attached attached;
  std::vector<Tensor> outputs;
  std::unique_ptr<ResultReader> reader;
  Result result;

  OneFrame(const Graph& model, Card with, int width, int height, const PostprocessOptions& options = {})
      : card(std::move(with)), attached(attach(model, card, options)) {
    verify(attached.graph);
    const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    outputs = interpret(attached.graph, {{"frame", test::gray_frame(pixels, width, height)}});
    reader = std::make_unique<ResultReader>(card, attached.outputs, options);
    reader->prepare(result);
    std::vector<TensorView> views;
    for (Tensor& output : outputs) views.push_back(view_of(output));
    reader->read(views, width, height, result);
  }
  OneFrame(const OneFrame&) = delete;
  OneFrame& operator=(const OneFrame&) = delete;
};

Card card_of(const Graph& model, const char* decoder, const std::vector<std::string>& labels) {
  Card card = default_card(*find_decoder(decoder));
  recognise_input(model, card);
  card.heads[0].labels = labels;
  card.heads[0].classes = static_cast<int>(labels.size());
  fit_output(model, card, card.heads[0]);
  return card;
}

std::vector<std::string> image_of(const Mask& mask, int width, int height) {
  std::vector<std::string> rows(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(width), '.'));
  for (const MaskRun& run : mask.runs)
    for (int x = run.x1; x < run.x2; ++x)
      rows.at(static_cast<std::size_t>(run.y)).at(static_cast<std::size_t>(x)) = '#';
  return rows;
}

/// One object of YOLOv8's layout: a box, its class's score, what else it has.
Tensor column(const std::vector<float>& values) {
  return Tensor::of<float>({1, static_cast<std::int64_t>(values.size()), 1}, values);
}

TEST(Predictions, MasksAreSumsOfPrototypesInsideTheBox) {
  // Two prototypes of 4x4 cells over an image of 8x8: ones on the left, ones at the top. Half the frame's size.
  std::vector<float> prototypes(32, -1.0F);
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 4; ++x) {
      if (x < 2) prototypes[4 * y + x] = 1;
      if (y < 2) prototypes[16 + 4 * y + x] = 1;
    }
  const Graph model = model_of(
      {{"output0", column({4, 4, 6, 6, 0.9F, 1, 0})}, {"output1", Tensor::of<float>({1, 2, 4, 4}, prototypes)}}, 8, 8);
  Card card = card_of(model, "yolov8-seg", {"thing"});
  const OneFrame run(model, card, 16, 16);
  ASSERT_EQ(run.result.detections.size(), 1U);
  const Detection& found = run.result.detections[0];
  EXPECT_EQ(found.box, (std::array<float, 4>{2, 2, 14, 14}));
  ASSERT_TRUE(found.mask);
  // Left of the middle, where the sum is 0 exactly between the two columns, and inside of the box.
  EXPECT_EQ(found.mask->area, 6 * 12);
  EXPECT_EQ(found.mask->runs.front().x1, 2);
  EXPECT_EQ(found.mask->runs.front().x2, 8);
  EXPECT_EQ(found.mask->runs.front().y, 2);
  EXPECT_EQ(found.mask->runs.back().y, 13);
}

/// An object with a mask on a grid of 2x2 cells, all of them inside, in a frame of 8x8 pixels.
struct OneMask {
  MaskWithin within = MaskWithin::kImage;
  std::array<float, 4> box{};
  std::vector<std::int32_t> runs;  ///< that the graph found
  std::int32_t area = 0;
  std::int32_t untraced = 0;
};

/// A mask as ResultReader reads it; keeps what it points to.
struct ReadMask {
  Card card;
  std::vector<Tensor> tensors;
  std::vector<Tensor> counts;
  std::unique_ptr<ResultReader> reader;
  Result result;

  explicit ReadMask(const OneMask& mask) {
    card.width = card.height = 8;
    const auto rows = static_cast<std::int32_t>(mask.runs.size() / 3);
    const std::array<float, 6> row = {mask.box[0], mask.box[1], mask.box[2], mask.box[3], 0.9F, 0};
    const DetectionOutputs detections{.rows = add(Tensor::of<float>({1, 6}, std::span<const float>(row))),
                                      .count = add_count(1),
                                      .faults = add(Tensor::of<std::int32_t>({1}, {0}))};
    const MaskOutputs masks{.within = mask.within,
                            .grids = add(Tensor::of<float>({1, 2, 2}, {1, 1, 1, 1})),
                            .untraced = add_count(mask.untraced),
                            .runs = add(Tensor::of<std::int32_t>({rows, 3}, std::span<const std::int32_t>(mask.runs))),
                            .run_count = add_count(rows),
                            .numbers = add(Tensor::of<std::int32_t>({1, 2}, {rows, mask.area})),
                            .faults = add(Tensor::of<std::int32_t>({1}, {0}))};
    const PredictionOutputs outputs{{{.detections = detections, .masks = masks}}, tensors.size()};
    reader = std::make_unique<ResultReader>(card, outputs, PostprocessOptions{});
    reader->prepare(result);
    std::vector<TensorView> views;
    for (std::vector<Tensor>* list : {&tensors, &counts})
      for (Tensor& output : *list) views.push_back(view_of(output));
    reader->read(views, 8, 8, result);
  }
  ReadMask(const ReadMask&) = delete;
  ReadMask& operator=(const ReadMask&) = delete;

  const Mask& mask() const { return result.detections.at(0).mask.value(); }

 private:
  TensorIndex add(Tensor tensor) {
    tensors.push_back(std::move(tensor));
    return TensorIndex{tensors.size() - 1};
  }
  CountIndex add_count(std::int32_t count) {
    counts.push_back(Tensor::of<std::int32_t>({1}, {count}));
    return CountIndex{counts.size() - 1};
  }
};

/// The area of a mask that the reader traces in BOX.
std::int64_t area_in(MaskWithin within, const std::array<float, 4>& box) {
  return ReadMask({.within = within, .box = box, .untraced = 1}).mask().area;
}

TEST(Predictions, AMaskLiesInWhatIsANumberOfItsBox) {
  for (const MaskWithin within : {MaskWithin::kBoxes, MaskWithin::kRegions}) {
    EXPECT_EQ(area_in(within, {2, 2, 6, 7}), 20);
    EXPECT_EQ(area_in(within, {6, 2, 2, 7}), 0);
    for (std::size_t edge = 0; edge < 4; ++edge) {
      std::array<float, 4> box = {2, 2, 6, 7};
      box.at(edge) = NAN;
      EXPECT_EQ(area_in(within, box), 0) << edge;
    }
  }
  EXPECT_EQ(area_in(MaskWithin::kBoxes, {-INFINITY, -1e30F, INFINITY, 1e30F}), 64);
}

TEST(Predictions, MasksAreTheRunsThatTheGraphFoundOrThoseOfTheGrids) {
  OneMask mask{.box = {2, 2, 6, 6}, .runs = {3, 1, 4, 5, 0, 2}, .area = 5};
  const ReadMask found(mask);
  EXPECT_EQ(found.mask().area, 5);
  EXPECT_EQ(image_of(found.mask(), 8, 8), (std::vector<std::string>{"........", "........", "........", ".###....",
                                                                    "........", "##......", "........", "........"}));
  mask.untraced = 1;
  const ReadMask traced(mask);
  EXPECT_EQ(traced.mask().area, 64);
  EXPECT_EQ(traced.mask().runs.size(), 8U);
}

TEST(Predictions, PointsAreInTheFramesPixels) {
  const Graph model = model_of({{"output0", column({4, 4, 4, 4, 0.9F, 2, 3, 0.7F, 6, 100, 0.2F})}}, 8, 8);
  const OneFrame run(model, card_of(model, "yolov8-pose", {"person"}), 16, 16);
  ASSERT_EQ(run.result.detections.size(), 1U);
  const auto points = run.result.detections[0].keypoints;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].x, 4);
  EXPECT_EQ(points[0].y, 6);
  EXPECT_EQ(points[0].confidence, 0.7F);
  EXPECT_EQ(points[1].y, 16) << "cut to the frame";
}

TEST(Predictions, PointsStandBehindSeveralClasses) {
  const Graph model = model_of({{"output0", column({4, 4, 4, 4, 0.1F, 0.9F, 2, 3, 0.7F, 6, 5, 0.2F})}}, 8, 8);
  Head head{.decoder = find_decoder("yolov8-pose"), .labels = {"cat", "dog"}};
  Card card = default_card(*head.decoder);
  recognise_input(model, card);
  fit_output(model, card, head);
  card.heads = {head};
  const OneFrame run(model, card, 16, 16);
  ASSERT_EQ(run.result.detections.size(), 1U);
  EXPECT_EQ(run.result.detections[0].class_name, "dog");
  ASSERT_EQ(run.result.detections[0].keypoints.size(), 2U);
  EXPECT_EQ(run.result.detections[0].keypoints[1].x, 12);
}

TEST(Predictions, PointsMustBeAsManyAsTheCardSays) {
  const Graph model = model_of({{"output0", column({4, 4, 4, 4, 0.9F, 2, 3, 0.7F, 6, 100, 0.2F})}}, 8, 8);
  Card card = card_of(model, "yolov8-pose", {"person"});
  for (const int keypoints : {100, 4}) {
    card.heads[0].keypoints = keypoints;
    EXPECT_THROW(attach(model, card, {}), Error) << keypoints;
  }
}

TEST(Predictions, OrientedBoxesHaveTheirLongerSideAsWidth) {
  // 2 wide and 4 high, turned by a tenth: the longer side lies a quarter turn on.
  const Graph model = model_of({{"output0", column({4, 4, 2, 4, 0.9F, 0.1F})}}, 8, 8);
  const OneFrame run(model, card_of(model, "yolov8-obb", {"ship"}), 16, 16);
  ASSERT_EQ(run.result.detections.size(), 1U);
  const OrientedBox& box = run.result.detections[0].oriented.value();
  EXPECT_FLOAT_EQ(box.x, 8);
  EXPECT_FLOAT_EQ(box.width, 8);
  EXPECT_FLOAT_EQ(box.height, 4);
  EXPECT_NEAR(box.angle, 0.1 + std::numbers::pi / 2, 1e-6);
  EXPECT_NEAR(run.result.detections[0].box[1], 8 - 4 * std::cos(0.1) - 2 * std::sin(0.1), 1e-4);
}

TEST(Predictions, AClassMapCountsTheFramesPixels) {
  // Three classes on 2x2 cells; a frame of 8x4 under a letterbox of 8x8 sees the cells' inner halves.
  const Graph model = model_of({{"logits", Tensor::of<float>({1, 4, 2, 2}, {9, 0, 0, 0,  //
                                                                            0, 9, 0, 0,  //
                                                                            0, 0, 9, 9,  //
                                                                            0, 0, 0, 0})}},
                               8, 8);
  Card card = card_of(model, "semantic", {"sky", "tree", "road", "sea"});
  card.resize = ResizeMode::kLetterbox;
  const OneFrame run(model, card, 8, 4);
  EXPECT_EQ(run.result.class_map.at(0, 0), 0);
  EXPECT_EQ(run.result.class_map.at(7, 1), 1);
  EXPECT_EQ(run.result.class_map.at(0, 2), 2);
  EXPECT_EQ(run.result.class_map.at(8, 0), -1);
  ASSERT_EQ(run.result.segments.size(), 3U);
  EXPECT_EQ(run.result.segments[0].class_name, "road");
  EXPECT_EQ(run.result.segments[0].pixels, 16);
  EXPECT_EQ(run.result.segments[1].pixels, 8);
  EXPECT_EQ(run.result.class_map.background, -1);
  card.heads[0].background = 2;
  const OneFrame other(model, card, 8, 4);
  EXPECT_EQ(other.result.class_map.background, 2);
  EXPECT_EQ(other.result.segments[0].class_name, "road") << "the background is counted";
}

TEST(Predictions, ADepthIsOfWhatTheModelSaw) {
  const Graph model = model_of({{"depth", Tensor::of<float>({1, 1, 2, 2}, {1, 3, NAN, 5})}}, 8, 8);
  Card card = card_of(model, "depth", {});
  card.heads[0].depth = DepthKind::kMetric;
  const OneFrame run(model, card, 4, 4);
  EXPECT_EQ(run.result.depth.min, 1);
  EXPECT_EQ(run.result.depth.max, 5);
  EXPECT_EQ(run.result.depth.mean, 3);
  EXPECT_EQ(run.result.depth.kind, DepthKind::kMetric);
  EXPECT_EQ(run.result.depth.at(0, 0), 1);
  card.roi = Region{0, 0, 2, 4};
  const OneFrame part(model, card, 4, 4);
  EXPECT_TRUE(std::isnan(part.result.depth.at(3, 0)));
  EXPECT_EQ(part.result.depth.at(1, 0), 3);
}

/// Rows of padding, then columns of it.
TEST(Predictions, ADepthIsNotOfThePadding) {
  const std::vector<float> rows = {90, 90, 90, 90, 1, 2, 2, 1, 5, 4, 4, 5, -90, -90, -90, -90};
  std::vector<float> columns(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) columns[i % 4 * 4 + i / 4] = rows[i];
  for (const auto& [values, width, height] : {std::tuple(rows, 8, 4), std::tuple(columns, 4, 8)}) {
    const Graph model = model_of({{"depth", Tensor::of<float>({1, 1, 4, 4}, values)}}, 8, 8);
    Card card = card_of(model, "depth", {});
    card.resize = ResizeMode::kLetterbox;
    const OneFrame run(model, card, width, height);
    EXPECT_EQ(run.result.depth.min, 1);
    EXPECT_EQ(run.result.depth.max, 5);
    EXPECT_EQ(run.result.depth.mean, 3);
  }
}

TEST(Predictions, AnImageHasTheSizeOfTheInput) {
  std::vector<float> values(3 * 4 * 4, 0.6F);
  values[0] = 2;   // over white
  values[1] = -1;  // under black
  const Graph model = model_of({{"up", Tensor::of<float>({1, 3, 4, 4}, values)}}, 2, 2);
  const OneFrame run(model, card_of(model, "upscale", {}), 10, 10);
  ASSERT_EQ(run.result.image.width, 4);
  const std::uint8_t* pixels = run.result.image.planes[0];
  EXPECT_EQ(pixels[0], 255);
  EXPECT_EQ(pixels[1], 153);
  EXPECT_EQ(pixels[3], 0);
}

TEST(Predictions, AnEmbeddingHasLengthOneUnlessTheCardKeepsIt) {
  const Graph model = model_of({{"vector", Tensor::of<float>({1, 3, 1, 1}, {2, -3, 6})}}, 8, 8);
  Card card = card_of(model, "embed", {});
  const OneFrame run(model, card, 16, 16);
  ASSERT_EQ(run.result.embedding.size(), 3U);
  EXPECT_FLOAT_EQ(run.result.embedding[0], 2.0F / 7);
  EXPECT_FLOAT_EQ(run.result.embedding[1], -3.0F / 7);
  EXPECT_FLOAT_EQ(run.result.embedding[2], 6.0F / 7);
  EXPECT_EQ(run.result.task, Task::kEmbed);
  card.heads[0].normalize = false;
  const OneFrame kept(model, card, 16, 16);
  EXPECT_EQ(std::vector<float>(kept.result.embedding.begin(), kept.result.embedding.end()),
            (std::vector<float>{2, -3, 6}));
}

TEST(Predictions, QueriesComeWithTheirMasksAnywhere) {
  std::vector<float> boxes = {0.5F, 0.5F, 0.2F, 0.2F, 0.5F, 0.5F, 1, 1};
  std::vector<float> logits = {-9, -9, 0, 9};
  std::vector<float> masks(2 * 4, -1.0F);
  masks[4] = 1;  // of the second query: the upper left cell
  const Graph model = model_of({{"dets", Tensor::of<float>({1, 2, 4}, boxes)},
                                {"labels", Tensor::of<float>({1, 2, 2}, logits)},
                                {"masks", Tensor::of<float>({1, 2, 2, 2}, masks)}},
                               16, 16);
  const OneFrame run(model, card_of(model, "rfdetr-seg", {"a", "b"}), 8, 8);
  ASSERT_EQ(run.result.detections.size(), 1U);
  EXPECT_EQ(run.result.detections[0].class_name, "b");
  EXPECT_EQ(run.result.detections[0].confidence, portable_sigmoid(9));
  // Bilinear between 1 and -1: above 0 where the shares of the upper left cell, across and down, exceed a half
  // together.
  EXPECT_EQ(image_of(*run.result.detections[0].mask, 8, 8),
            (std::vector<std::string>{"####....", "####....", "####....", "###.....", "........", "........",
                                      "........", "........"}));
}

TEST(Predictions, SeveralHeadsFillOneResult) {
  const Graph model = model_of({{"output0", column({4, 4, 4, 4, 0.9F})},
                                {"depth", Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4})},
                                {"place", Tensor::of<float>({1, 3}, {0, 5, 1})}},
                               8, 8);
  Card card = card_of(model, "yolov8", {"thing"});
  for (const auto& [decoder, output, labels] :
       {std::tuple{"depth", "depth", std::vector<std::string>{}},
        std::tuple{"classify", "place", std::vector<std::string>{"a", "b", "c"}}}) {
    Head head{.decoder = find_decoder(decoder), .outputs = {output}, .labels = labels};
    fit_output(model, card, head);
    card.heads.push_back(head);
  }
  const OneFrame run(model, card, 8, 8);
  EXPECT_EQ(run.result.detections.size(), 1U);
  EXPECT_EQ(run.result.depth.max, 4);
  ASSERT_EQ(run.result.classes.size(), 3U);
  EXPECT_EQ(run.result.classes[0].class_name, "b");
}

/// A class's number means another thing in another head.
TEST(Predictions, SelectedClassesAreTheFirstHeads) {
  const Graph model = model_of({{"cars", Tensor::of<float>({1, 1, 6}, {1, 1, 3, 3, 0.9F, 0})},
                                {"people", Tensor::of<float>({1, 1, 6}, {4, 4, 6, 6, 0.8F, 1})}},
                               8, 8);
  Card card = default_card(*find_decoder("yolo-e2e"));
  recognise_input(model, card);
  card.heads.clear();
  for (const char* output : {"cars", "people"}) {
    Head head{.decoder = find_decoder("yolo-e2e"), .outputs = {output}, .labels = {"a", "b"}};
    fit_output(model, card, head);
    card.heads.push_back(head);
  }
  const OneFrame run(model, card, 8, 8, {.classes = {"0"}});
  ASSERT_EQ(run.result.detections.size(), 2U);
  EXPECT_EQ(run.result.detections[1].class_id, 1);
  const OneFrame other(model, card, 8, 8, {.classes = {"1"}});
  EXPECT_EQ(other.result.detections.size(), 1U);
}

}  // namespace
}  // namespace saccade
