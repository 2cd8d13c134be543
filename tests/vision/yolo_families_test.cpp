#include "family_models.hpp"

// YOLO's heads, encoded from known boxes by each family's published formulas.
namespace saccade::test {
namespace {

/// The inverse of (2 * sigmoid(t))^2 * anchor and of 2 * sigmoid(t) - 0.5.
float root_share(float size, float anchor) { return std::sqrt(size / anchor) / 2; }

enum class Layout : std::uint8_t { kPlanes, kPlanesLast, kAnchors, kAnchorsLast };

struct HeadLevel {
  int stride;
  std::vector<std::array<float, 2>> anchors;
};

const std::vector<HeadLevel> kV3Levels = {{8, {{10, 13}, {16, 30}, {33, 23}}},
                                          {16, {{30, 61}, {62, 45}, {59, 119}}},
                                          {32, {{116, 90}, {156, 198}, {373, 326}}}};
const std::vector<HeadLevel> kTinyLevels = {{16, {{10, 14}, {23, 27}, {37, 58}}},
                                            {32, {{81, 82}, {135, 169}, {344, 319}}}};

/// A level of 160x128 pixels where the second anchor of each object's cell contains it; V3: Darknet's encoding.
Tensor head(const HeadLevel& level, const std::vector<Known>& things, Layout layout, bool v3, int classes = 80,
            bool squashed = false) {
  const std::int64_t columns = 160 / level.stride;
  const std::int64_t rows = 128 / level.stride;
  const std::int64_t numbers = 5 + classes;
  Tensor tensor;
  switch (layout) {
    case Layout::kPlanes: tensor = filled({1, 3 * numbers, rows, columns}, 0); break;
    case Layout::kPlanesLast: tensor = filled({1, rows, columns, 3 * numbers}, 0); break;
    case Layout::kAnchors: tensor = filled({1, 3, rows, columns, numbers}, 0); break;
    case Layout::kAnchorsLast: tensor = filled({1, rows, columns, 3, numbers}, 0); break;
  }
  const auto element = [&](std::int64_t a, std::int64_t y, std::int64_t x, std::int64_t n) -> float& {
    switch (layout) {
      case Layout::kPlanes: return at(tensor, {0, a * numbers + n, y, x});
      case Layout::kPlanesLast: return at(tensor, {0, y, x, a * numbers + n});
      case Layout::kAnchors: return at(tensor, {0, a, y, x, n});
      default: return at(tensor, {0, y, x, a, n});
    }
  };
  const auto share = [&](float p) { return squashed ? p : logit(p); };
  for (std::int64_t a = 0; a < 3; ++a)
    for (std::int64_t y = 0; y < rows; ++y)
      for (std::int64_t x = 0; x < columns; ++x)
        for (std::int64_t n = 4; n < numbers; ++n) element(a, y, x, n) = share(0.01F);
  for (const Known& thing : things) {
    const auto size = static_cast<float>(level.stride);
    const auto x = static_cast<std::int64_t>(thing.x() / size);
    const auto y = static_cast<std::int64_t>(thing.y() / size);
    const auto [across, down] = level.anchors[1];
    const float dx = thing.x() / size - static_cast<float>(x);
    const float dy = thing.y() / size - static_cast<float>(y);
    element(1, y, x, 0) = v3 ? logit(dx) : share((dx + 0.5F) / 2);
    element(1, y, x, 1) = v3 ? logit(dy) : share((dy + 0.5F) / 2);
    element(1, y, x, 2) = v3 ? std::log(thing.width() / across) : share(root_share(thing.width(), across));
    element(1, y, x, 3) = v3 ? std::log(thing.height() / down) : share(root_share(thing.height(), down));
    element(1, y, x, 4) = share(0.95F);
    element(1, y, x, 5 + thing.class_id) = share(thing.score / 0.95F);
  }
  return tensor;
}

TEST(Yolov3, ReadsDarknetsHeadsByTheirNames) {
  // Coarsest level first, as in yolov3.cfg.
  FamilyModel model({1, 3, 128, 160}, "000_net");
  model.gives("082_convolutional", head(kV3Levels[2], {kThings[2]}, Layout::kPlanes, true));
  model.gives("094_convolutional", head(kV3Levels[1], {kThings[1]}, Layout::kPlanes, true));
  model.gives("106_convolutional", head(kV3Levels[0], {kThings[0]}, Layout::kPlanes, true));
  const Found found = find_in(model.build());
  expect_found(found, "yolov3", kThings);
  EXPECT_EQ(found.card.head().strides, (std::vector{32, 16, 8}));
}

TEST(Yolov3, ReadsTheTinyOnesTwoLevels) {
  FamilyModel model({1, 3, 128, 160}, "000_net");
  model.gives("016_convolutional", head(kTinyLevels[1], {kThings[2]}, Layout::kPlanes, true));
  model.gives("023_convolutional", head(kTinyLevels[0], {kThings[0], kThings[1]}, Layout::kPlanes, true));
  expect_found(find_in(model.build()), "yolov3", kThings);
}

TEST(Yolov3, ReadsEveryLayoutUnderACardOfOneLine) {
  for (const Layout layout : {Layout::kPlanesLast, Layout::kAnchors, Layout::kAnchorsLast}) {
    FamilyModel model({1, 128, 160, 3}, "input_1");
    for (std::size_t i = 0; i < 3; ++i)
      model.gives("conv2d_" + std::to_string(i), head(kV3Levels[i], {kThings[i]}, layout, true));
    expect_found(find_in(model.build(), "[output]\ndecoder = \"yolov3\"\n"), "yolov3", kThings);
  }
}

TEST(Yolov3, TakesAnchorsFromItsCard) {
  const HeadLevel level{16, {{5, 6}, {40, 50}, {70, 80}}};
  FamilyModel model({1, 3, 128, 160});
  model.gives("out", head(level, kThings, Layout::kPlanes, true));
  const std::string card = "[output]\ndecoder = \"yolov3\"\nanchors = [[5, 6], [40, 50], [70, 80]]\n";
  expect_found(find_in(model.build(), card), "yolov3", kThings);
}

TEST(Yolov3, IsNotGuessedFromShapes) {
  FamilyModel model({1, 3, 128, 160});
  for (std::size_t i = 0; i < 3; ++i)
    model.gives("out" + std::to_string(i), head(kV3Levels[i], {kThings[i]}, Layout::kPlanes, true));
  EXPECT_EQ(recognised(model.build()), "");
}

TEST(Yolov5Heads, ReadsRawAndSquashedHeads) {
  for (const bool squashed : {false, true}) {
    FamilyModel model({1, 3, 128, 160});
    for (std::size_t i = 0; i < 3; ++i) {
      const Tensor level = head(kV3Levels[i], {kThings[i]}, Layout::kAnchors, false);
      const std::string name = "output" + std::to_string(i);
      squashed ? model.gives(name, level, "Sigmoid") : model.gives(name, level);
    }
    expect_found(find_in(model.build(), "[output]\ndecoder = \"yolov5-heads\"\n"), "yolov5-heads", kThings);
  }
}

TEST(Yolov5Heads, TakesV7sAnchorsFromItsCard) {
  const std::vector<HeadLevel> levels = {{8, {{12, 16}, {19, 36}, {40, 28}}},
                                         {16, {{36, 75}, {76, 55}, {72, 146}}},
                                         {32, {{142, 110}, {192, 243}, {459, 401}}}};
  FamilyModel model({1, 3, 128, 160});
  for (std::size_t i = 0; i < 3; ++i)
    model.gives("output" + std::to_string(i), head(levels[i], {kThings[i]}, Layout::kAnchors, false));
  const std::string card =
      "[output]\ndecoder = \"yolov5-heads\"\n"
      "anchors = [[12,16, 19,36, 40,28], [36,75, 76,55, 72,146], [142,110, 192,243, 459,401]]\n";
  expect_found(find_in(model.build(), card), "yolov5-heads", kThings);
}

/// Decoded rows: centre, size, objectness, classes, and extra elements.
Tensor rows(std::int64_t count, std::int64_t extra, float objectness, int classes = 80) {
  Tensor tensor = filled({1, count, 5 + classes + extra}, 0);
  for (std::size_t i = 0; i < kThings.size(); ++i) {
    const auto row = static_cast<std::int64_t>(31 * i + 5);
    const Known& thing = kThings[i];
    at(tensor, {0, row, 0}) = thing.x();
    at(tensor, {0, row, 1}) = thing.y();
    at(tensor, {0, row, 2}) = thing.width();
    at(tensor, {0, row, 3}) = thing.height();
    at(tensor, {0, row, 4}) = objectness;
    at(tensor, {0, row, 5 + (classes == 1 ? 0 : thing.class_id)}) = thing.score / objectness;
  }
  return tensor;
}

constexpr std::int64_t kCells = 20 * 16 + 10 * 8 + 5 * 4;  ///< of strides 8, 16, 32 in 160x128 pixels

TEST(Yolov5, ReadsDecodedRows) {
  expect_found(find_in(FamilyModel({1, 3, 128, 160}).gives("output", rows(3 * kCells, 0, 0.95F)).build()), "yolov5",
               kThings);
}

TEST(Yolov6, ReadsRowsOfOneAnchorACell) {
  expect_found(find_in(FamilyModel({1, 3, 128, 160}).gives("outputs", rows(kCells, 0, 1)).build()), "yolov5", kThings);
}

/// The output of YOLOX's `--decode_in_inference`: sizes after an exponential.
Graph decoded_yolox() {
  Tensor decoded = rows(kCells, 0, 1);
  FamilyModel model({1, 3, 128, 160});
  GraphBuilder& b = model.builder();
  const auto columns = [&](std::int64_t begin, std::int64_t end) {
    return b.op("Slice", {model.constant(decoded), b.ints({begin}), b.ints({end}), b.ints({2})});
  };
  const ValueId sizes = b.op("Exp", {b.op("Log", {columns(2, 4)})});
  return model.gives("output", b.op("Concat", {columns(0, 2), sizes, columns(4, 85)}, {{"axis", std::int64_t{2}}}))
      .build();
}

TEST(Yolox, NeedsACardWhereItIsDecoded) {
  EXPECT_EQ(recognised(decoded_yolox()), "");
  const Found found = find_in(decoded_yolox(),
                              "[input]\ncolor = \"bgr\"\nresize = \"letterbox-topleft\"\nscale = 1\n"
                              "[output]\ndecoder = \"yolov5\"\n");
  expect_found(found, "yolov5", kThings);
  EXPECT_EQ(found.card.color, ChannelOrder::kBgr);
}

/// Two prototypes: +1 everywhere, and -1 above the middle; coefficients select the second or none.
Tensor prototypes() {
  Tensor tensor = filled({1, 2, 32, 40}, 0);
  for (std::int64_t y = 0; y < 32; ++y)
    for (std::int64_t x = 0; x < 40; ++x) {
      at(tensor, {0, 0, y, x}) = 1;
      at(tensor, {0, 1, y, x}) = y < 16 ? -1 : 1;
    }
  return tensor;
}

void expect_areas(const Found& found) {
  // The first fills its box; the second has the part below the middle of the image.
  ASSERT_EQ(found.areas.size(), 3U);
  EXPECT_NEAR(static_cast<double>(found.areas[0]), 42 * 48, 1);
  EXPECT_NEAR(static_cast<double>(found.areas[1]), 100 * (180 - 128), 100);
}

TEST(Yolov5Seg, ReadsRowsAndPrototypes) {
  Tensor tensor = rows(3 * kCells, 2, 0.95F);
  at(tensor, {0, 5, 85}) = 1;
  at(tensor, {0, 36, 86}) = 1;
  at(tensor, {0, 67, 85}) = 1;
  const Found found =
      find_in(FamilyModel({1, 3, 128, 160}).gives("output0", tensor).gives("output1", prototypes()).build());
  expect_found(found, "yolov5-seg", kThings);
  expect_areas(found);
}

/// A card's remap selects two of the output's eighty classes; the following elements keep their positions.
TEST(Yolov5Seg, RemapsItsClasses) {
  Tensor tensor = rows(3 * kCells, 2, 0.95F);
  at(tensor, {0, 36, 86}) = 1;
  at(tensor, {0, 67, 85}) = 1;
  std::string map = "1";
  for (int i = 1; i < 79; ++i) map += ", -1";
  const Found found =
      find_in(FamilyModel({1, 3, 128, 160}).gives("output0", tensor).gives("output1", prototypes()).build(),
              "[output]\nlabels = [\"tool\", \"worker\"]\nremap = [" + map + ", 0]\n");
  expect_found(found, "yolov5-seg", {{kThings[1].box, 0.8F, 1}, {kThings[2].box, 0.7F, 0}});
  ASSERT_EQ(found.areas.size(), 2U);
  EXPECT_NEAR(static_cast<double>(found.areas[0]), 100 * (180 - 128), 100);
  EXPECT_EQ(found.detections()[0].class_name, "worker");
}

std::vector<Known> of_class(int class_id) {
  std::vector<Known> things = kThings;
  for (Known& thing : things) thing.class_id = class_id;
  return things;
}

TEST(Yolov7Pose, ReadsRowsAndPoints) {
  Tensor tensor = rows(3 * kCells, 51, 0.95F, 1);
  for (std::int64_t k = 0; k < 17; ++k) {
    at(tensor, {0, 5, 6 + 3 * k}) = static_cast<float>(11 + k);
    at(tensor, {0, 5, 7 + 3 * k}) = static_cast<float>(21 + k);
    at(tensor, {0, 5, 8 + 3 * k}) = 0.5F;
  }
  const Found found = find_in(FamilyModel({1, 3, 128, 160}).gives("output", tensor).build());
  expect_found(found, "yolov7-pose", of_class(0));
  ASSERT_EQ(found.keypoints.size(), 3U);
  EXPECT_EQ(found.detections()[0].class_name, "person");
  ASSERT_EQ(found.keypoints[0].size(), 17U);
  EXPECT_NEAR(found.keypoints[0][16].x, 2 * 27, 0.01);
  EXPECT_NEAR(found.keypoints[0][16].y, 2 * 37, 0.01);
  EXPECT_EQ(found.keypoints[0][16].confidence, 0.5F);
}

const std::vector<Known> kFastestThings = {{{100, 120, 140, 170}, 0.9F, 7}, {{50, 60, 200, 300}, 0.6F, 33}};

/// Yolo-FastestV2's levels [1, 95, h, w], with its sigmoids and softmax.
std::vector<ValueId> fastest_levels(FamilyModel& model) {
  // 352x352: the anchors of its COCO model.
  const float anchors[2][3][2] = {{{12.64F, 19.39F}, {37.88F, 51.48F}, {55.71F, 138.31F}},
                                  {{126.91F, 78.23F}, {131.57F, 214.55F}, {279.92F, 258.87F}}};
  std::vector<ValueId> levels;
  for (std::size_t level = 0; level < 2; ++level) {
    const int stride = level == 0 ? 16 : 32;
    const std::int64_t cells = 352 / stride;
    const Known& thing = kFastestThings[level];
    const auto x = static_cast<std::int64_t>(thing.x()) / stride;
    const auto y = static_cast<std::int64_t>(thing.y()) / stride;
    const auto size = static_cast<float>(stride);
    Tensor boxes = filled({1, 12, cells, cells}, 0);
    Tensor objectness = filled({1, 3, cells, cells}, -6);
    Tensor classes = filled({1, 80, cells, cells}, -20);
    at(boxes, {0, 4, y, x}) = logit((thing.x() / size - static_cast<float>(x) + 0.5F) / 2);
    at(boxes, {0, 5, y, x}) = logit((thing.y() / size - static_cast<float>(y) + 0.5F) / 2);
    at(boxes, {0, 6, y, x}) = logit(root_share(thing.width(), anchors[level][1][0]));
    at(boxes, {0, 7, y, x}) = logit(root_share(thing.height(), anchors[level][1][1]));
    at(objectness, {0, 1, y, x}) = logit(thing.score);
    at(classes, {0, thing.class_id, y, x}) = 20;
    GraphBuilder& b = model.builder();
    levels.push_back(b.op("Concat",
                          {b.op("Sigmoid", {model.constant(boxes)}), b.op("Sigmoid", {model.constant(objectness)}),
                           b.op("Softmax", {model.constant(classes)}, {{"axis", std::int64_t{1}}})},
                          {{"axis", std::int64_t{1}}}));
  }
  return levels;
}

TEST(YoloFastest, ReadsItsTwoLevels) {
  FamilyModel model({1, 3, 352, 352}, "input.1");
  const std::vector<ValueId> levels = fastest_levels(model);
  for (std::size_t i = 0; i < 2; ++i)
    model.gives(i == 0 ? "794" : "796",
                model.builder().op("Transpose", {levels[i]}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}}));
  const Found found = find_in(model.build());
  expect_found(found, "yolo-fastest", kFastestThings);
  EXPECT_EQ(found.card.color, ChannelOrder::kBgr);
}

/// As its exports for OpenCV have them: cell by cell, both levels in one output.
TEST(YoloFastest, ReadsBothLevelsInOneOutput) {
  FamilyModel model({1, 3, 352, 352}, "input.1");
  GraphBuilder& b = model.builder();
  std::vector<ValueId> cells;
  for (ValueId level : fastest_levels(model))
    cells.push_back(b.op(
        "Reshape", {b.op("Transpose", {level}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}}), b.ints({-1, 95})}));
  const Found found = find_in(model.gives("772", b.op("Concat", cells, {{"axis", std::int64_t{0}}})).build());
  expect_found(found, "yolo-fastest", kFastestThings);
  EXPECT_EQ(found.card.head().strides, (std::vector{16, 32}));
}

TEST(FastestDet, ReadsItsOneLevel) {
  const std::vector<Known> things = {{{100, 120, 140, 170}, 0.9F, 7}, {{50, 60, 200, 300}, 0.6F, 33}};
  Tensor boxes = filled({1, 4, 22, 22}, 0);
  Tensor objectness = filled({1, 1, 22, 22}, -9);
  Tensor classes = filled({1, 80, 22, 22}, -20);
  for (const Known& thing : things) {
    const auto x = static_cast<std::int64_t>(thing.x() / 16);
    const auto y = static_cast<std::int64_t>(thing.y() / 16);
    at(boxes, {0, 0, y, x}) = std::atanh(thing.x() / 16 - static_cast<float>(x));
    at(boxes, {0, 1, y, x}) = std::atanh(thing.y() / 16 - static_cast<float>(y));
    at(boxes, {0, 2, y, x}) = logit(thing.width() / 352);
    at(boxes, {0, 3, y, x}) = logit(thing.height() / 352);
    at(objectness, {0, 0, y, x}) = logit(std::pow(thing.score, 1 / 0.6F));
    at(classes, {0, thing.class_id, y, x}) = 20;
  }
  FamilyModel model({1, 3, 352, 352}, "input.1");
  GraphBuilder& b = model.builder();
  model.gives("758", b.op("Concat",
                          {b.op("Sigmoid", {model.constant(objectness)}), model.constant(boxes),
                           b.op("Softmax", {model.constant(classes)}, {{"axis", std::int64_t{1}}})},
                          {{"axis", std::int64_t{1}}}));
  expect_found(find_in(model.build()), "fastestdet", things);
}

TEST(KerasYolov3, ReadsBoxesInPixelsOfTheInput) {
  Tensor boxes = filled({1, kCells * 3, 4}, 0);
  Tensor scores = filled({1, 80, kCells * 3}, 0);
  for (std::size_t i = 0; i < kThings.size(); ++i) {
    const auto row = static_cast<std::int64_t>(31 * i + 5);
    for (std::size_t k = 0; k < 4; ++k)
      at(boxes, {0, row, static_cast<std::int64_t>(k)}) = kThings[i].box[std::array{1, 0, 3, 2}[k]];
    at(scores, {0, kThings[i].class_id, row}) = kThings[i].score;
  }
  FamilyModel model({1, 3, 128, 160}, "input_1");
  model.builder().input("image_shape", {1, 2});
  model.gives("yolonms_layer_1/ExpandDims_1:0", boxes).gives("yolonms_layer_1/ExpandDims_3:0", scores);
  model.gives("yolonms_layer_1/concat_2:0", Tensor(DType::kInt32, {20, 3})).cut({{2, 0}}, 3);
  expect_found(find_in(model.build()), "keras-yolov3", kThings);
}

TEST(Darknet, ReadsWhatPytorchYolov4Writes) {
  Tensor boxes = filled({1, 3 * kCells, 1, 4}, 0);
  Tensor scores = filled({1, 3 * kCells, 80}, 0);
  for (std::size_t i = 0; i < kThings.size(); ++i) {
    const auto row = static_cast<std::int64_t>(31 * i + 5);
    for (std::int64_t k = 0; k < 4; ++k)
      at(boxes, {0, row, 0, k}) = kThings[i].box[static_cast<std::size_t>(k)] / (k % 2 == 0 ? 160.0F : 128.0F);
    at(scores, {0, row, kThings[i].class_id}) = kThings[i].score;
  }
  expect_found(find_in(FamilyModel({1, 3, 128, 160}, "input").gives("boxes", boxes).gives("confs", scores).build()),
               "darknet", kThings);
}

}  // namespace
}  // namespace saccade::test
