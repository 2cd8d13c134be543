#include "chosen_lists.hpp"

// Models with built-in box selection, and DETRs, encoded from known boxes.
namespace saccade::test {
namespace {

/// Rows x1, y1, x2, y2, score, class, and extra elements.
Tensor rows(std::int64_t extra, const std::vector<Known>& things = kThings) {
  Tensor tensor = filled({1, 300, 6 + extra}, 0);
  for (std::size_t i = 0; i < things.size(); ++i) {
    const auto row = static_cast<std::int64_t>(2 * i);
    for (std::int64_t k = 0; k < 4; ++k) at(tensor, {0, row, k}) = things[i].box[static_cast<std::size_t>(k)];
    at(tensor, {0, row, 4}) = things[i].score;
    at(tensor, {0, row, 5}) = static_cast<float>(things[i].class_id);
  }
  return tensor;
}

TEST(YoloEndToEnd, ReadsBoxes) {
  expect_found(find_in(FamilyModel(kInputShape).gives("output0", rows(0)).build()), "yolo-e2e", kThings);
}

TEST(YoloEndToEnd, KeepsWhatOverlaps) {
  const std::vector<Known> twice = {{{10, 20, 31, 44}, 0.9F, 2}, {{10, 20, 31, 44}, 0.8F, 2}};
  expect_found(find_in(FamilyModel(kInputShape).gives("output0", rows(0, twice)).build()), "yolo-e2e", twice);
}

TEST(YoloEndToEndSeg, ReadsMasks) {
  Tensor tensor = rows(32);
  for (std::int64_t i = 0; i < 3; ++i) at(tensor, {0, 2 * i, 6 + i}) = 1;
  Tensor prototypes = filled({1, 32, 32, 40}, 0);
  for (std::int64_t y = 0; y < 32; ++y)
    for (std::int64_t x = 0; x < 40; ++x) {
      at(prototypes, {0, 0, y, x}) = 1;
      at(prototypes, {0, 1, y, x}) = y < 16 ? -1 : 1;
      at(prototypes, {0, 2, y, x}) = -1;
    }
  const Found found = find_in(FamilyModel(kInputShape).gives("output0", tensor).gives("output1", prototypes).build());
  expect_found(found, "yolo-e2e-seg", kThings);
  ASSERT_EQ(found.areas.size(), 3U);
  EXPECT_NEAR(static_cast<double>(found.areas[0]), 42 * 48, 1);
  EXPECT_NEAR(static_cast<double>(found.areas[1]), 100 * (180 - 128), 100);
  EXPECT_EQ(found.areas[2], 0);
}

std::vector<Known> people() {
  std::vector<Known> things = kThings;
  for (Known& thing : things) thing.class_id = 0;
  return things;
}

TEST(YoloEndToEndPose, ReadsPoints) {
  Tensor tensor = rows(51, people());
  for (std::int64_t k = 0; k < 17; ++k) {
    at(tensor, {0, 2, 6 + 3 * k}) = static_cast<float>(61 + k);
    at(tensor, {0, 2, 7 + 3 * k}) = static_cast<float>(31 + k);
    at(tensor, {0, 2, 8 + 3 * k}) = 0.25F;
  }
  const Found found = find_in(FamilyModel(kInputShape).gives("output0", tensor).build());
  expect_found(found, "yolo-e2e-pose", people());
  ASSERT_EQ(found.keypoints.size(), 3U);
  ASSERT_EQ(found.keypoints[1].size(), 17U);
  EXPECT_NEAR(found.keypoints[1][3].x, 2 * 64, 0.01);
  EXPECT_NEAR(found.keypoints[1][3].y, 2 * 34, 0.01);
  EXPECT_EQ(found.keypoints[1][3].confidence, 0.25F);
  EXPECT_EQ(found.detections()[0].class_name, "person");
}

TEST(YoloEndToEndObb, ReadsTurnedBoxesByMetadata) {
  Tensor tensor = filled({1, 300, 7}, 0);
  const std::array<float, 7> row = {80, 64, 60, 20, 0.9F, 4, 0.5F};
  for (std::int64_t k = 0; k < 7; ++k) at(tensor, {0, 9, k}) = row[static_cast<std::size_t>(k)];
  Graph model = FamilyModel(kInputShape).gives("output0", tensor).build();
  EXPECT_EQ(recognised(model), "");
  model.metadata = {{"task", "obb"}, {"names", "['a', 'b', 'c', 'd', 'ship']"}};
  const Found found = find_in(std::move(model));
  ASSERT_EQ(found.detections().size(), 1U);
  const Detection& ship = found.detections()[0];
  EXPECT_EQ(found.card.head().decoder->name, "yolo-e2e-obb");
  EXPECT_EQ(ship.class_name, "ship");
  EXPECT_NEAR(ship.confidence, 0.9F, 1e-6);
  ASSERT_TRUE(ship.oriented);
  EXPECT_NEAR(ship.oriented->x, 160, 0.01);
  EXPECT_NEAR(ship.oriented->y, 128, 0.01);
  EXPECT_NEAR(ship.oriented->width, 120, 0.01);
  EXPECT_NEAR(ship.oriented->height, 40, 0.01);
  EXPECT_NEAR(ship.oriented->angle, 0.5, 1e-4);
}

TEST(Yolov8Obb, ReadsColumnsWithAnAngle) {
  const std::int64_t cells = 20 * 16 + 10 * 8 + 5 * 4;
  Tensor tensor = filled({1, 20, cells}, 0);
  const std::array<float, 4> box = {80, 64, 20, 60};  // the longer side is the height: the angle changes by 90 degrees
  for (std::int64_t k = 0; k < 4; ++k) at(tensor, {0, k, 77}) = box[static_cast<std::size_t>(k)];
  at(tensor, {0, 4 + 11, 77}) = 0.9F;
  at(tensor, {0, 19, 77}) = 0.25F;
  const Found found =
      find_in(FamilyModel(kInputShape).gives("output0", tensor).build(), "[output]\ndecoder = \"yolov8-obb\"\n");
  ASSERT_EQ(found.detections().size(), 1U);
  EXPECT_EQ(found.detections()[0].class_id, 11);
  ASSERT_TRUE(found.detections()[0].oriented);
  EXPECT_NEAR(found.detections()[0].oriented->width, 120, 0.01);
  EXPECT_NEAR(found.detections()[0].oriented->height, 40, 0.01);
  EXPECT_NEAR(found.detections()[0].oriented->angle, 0.25 + M_PI / 2, 1e-4);
}

/// Ultralytics concatenates boxes and scores, and both with the angle.
TEST(Yolov8Obb, IsKnownByDotasFifteenClasses) {
  const std::int64_t cells = 20 * 16 + 10 * 8 + 5 * 4;
  Tensor boxes = filled({1, 4, cells}, 0);
  Tensor logits = filled({1, 15, cells}, logit(0.01F));
  const std::array<float, 4> box = {80, 64, 60, 20};
  for (std::int64_t k = 0; k < 4; ++k) at(boxes, {0, k, 77}) = box[static_cast<std::size_t>(k)];
  at(logits, {0, 11, 77}) = logit(0.9F);
  FamilyModel model(kInputShape);
  GraphBuilder& b = model.builder();
  const auto joined = [&](ValueId first, ValueId second) {
    return b.op("Concat", {first, second}, {{"axis", std::int64_t{1}}});
  };
  const ValueId rows = joined(model.constant(boxes), b.op("Sigmoid", {model.constant(logits)}));
  const Found found =
      find_in(model.gives("output0", joined(rows, model.constant(filled({1, 1, cells}, 0.25F)))).build());
  EXPECT_EQ(found.card.head().decoder->name, "yolov8-obb");
  EXPECT_EQ(found.card.head().labels.size(), 15U);
  ASSERT_EQ(found.detections().size(), 1U);
  EXPECT_EQ(found.detections()[0].class_id, 11);
  EXPECT_NEAR(found.detections()[0].confidence, 0.9, 1e-5);
  ASSERT_TRUE(found.detections()[0].oriented);
  EXPECT_NEAR(found.detections()[0].oriented->x, 160, 0.01);
  EXPECT_NEAR(found.detections()[0].oriented->width, 120, 0.01);
  EXPECT_NEAR(found.detections()[0].oriented->angle, 0.25, 1e-4);
}

/// Centre and size normalized to the image, and logits; the background is class C - 1 if it has a class.
Graph detr(const std::string& logits_name, int queries, int classes, bool softmax,
           const std::string& boxes_name = "pred_boxes") {
  Tensor logits = filled({1, queries, classes}, softmax ? -5.0F : -8.0F);
  Tensor boxes = filled({1, queries, 4}, 0.5F);
  for (std::int64_t q = 0; softmax && q < queries; ++q) at(logits, {0, q, classes - 1}) = 5;
  for (std::size_t i = 0; i < kThings.size(); ++i) {
    const auto q = static_cast<std::int64_t>(3 * i + 1);
    const Known& thing = kThings[i];
    const std::array<float, 4> box = {thing.x() / 160, thing.y() / 128, thing.width() / 160, thing.height() / 128};
    for (std::int64_t k = 0; k < 4; ++k) at(boxes, {0, q, k}) = box[static_cast<std::size_t>(k)];
    // COCO's category IDs of person, car and toothbrush.
    const std::int64_t place = classes >= 91 ? std::array{3, 1, 90}[i] : thing.class_id;
    if (softmax) {
      for (std::int64_t c = 0; c < classes; ++c) at(logits, {0, q, c}) = -30;
      at(logits, {0, q, place}) = std::log(thing.score);
      at(logits, {0, q, classes - 1}) = std::log(1 - thing.score);
    } else {
      at(logits, {0, q, place}) = logit(thing.score);
    }
  }
  return FamilyModel(kInputShape, "pixel_values").gives(logits_name, logits).gives(boxes_name, boxes).build();
}

TEST(Detr, TakesTheSoftmaxWithoutItsLastClass) {
  const Found found = find_in(detr("logits", 100, 92, true));
  expect_found(found, "detr", kThings);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[2].class_name, "toothbrush");
  EXPECT_NEAR(found.card.mean[0], 0.485, 1e-6);
  expect_found(find_in(detr("pred_logits", 100, 92, true)), "detr", kThings);
}

TEST(Detr, ReceivesAFullPixelMask) {
  Graph model = detr("logits", 100, 92, true);
  model.add_input("pixel_mask", {DType::kInt64, {1, 128, 160}});
  expect_found(find_in(std::move(model)), "detr", kThings);
}

TEST(Detr, OfOtherClassesNeedsACard) {
  EXPECT_EQ(recognised(detr("logits", 100, 81, true)), "");
  expect_found(find_in(detr("logits", 100, 81, true), "[output]\ndecoder = \"detr\"\n"), "detr", kThings);
}

TEST(RtDetr, TakesASigmoidOfEachClass) {
  const Found found = find_in(detr("logits", 300, 80, false));
  expect_found(found, "rtdetr", kThings);
  EXPECT_EQ(found.card.mean[0], 0);
}

TEST(DeformableDetr, TakesCocosOwnNumbers) {
  const Found found = find_in(detr("logits", 300, 91, false));
  expect_found(found, "deformable-detr", kThings);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[0].class_name, "car");
}

TEST(RfDetr, TakesCocosOwnNumbers) {
  const Found found = find_in(detr("labels", 300, 91, false, "dets"));
  expect_found(found, "rfdetr", kThings);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[2].class_name, "toothbrush");
  EXPECT_NEAR(found.card.mean[0], 0.485, 1e-6);
}

TEST(DetrEndToEnd, ReadsBoxesOfTheSizeInput) {
  FamilyModel model(kInputShape);
  GraphBuilder& b = model.builder();
  const ValueId size = b.op("Cast", {b.input("orig_target_sizes", {1, 2}, DType::kInt64)}, {{"to", std::int64_t{1}}});
  const ValueId sizes = b.op("Concat", {size, size}, {{"axis", std::int64_t{1}}});
  const ValueId shares = model.constant(boxes({1, 300, 4}, {0, 1, 2, 3}, 160, 128));
  model.gives("labels", labels<std::int64_t>({1, 300}, {2, 0, 79})).gives("boxes", b.op("Mul", {shares, sizes}));
  const Found found = find_in(model.gives("scores", scores({1, 300})).build());
  expect_found(found, "detr-e2e", kThings);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[0].class_name, "car");
}

TEST(TensorFlowDetector, ReadsItsFourOutputs) {
  // Elements past num_detections must not be read, whatever their score.
  FamilyModel model({1, 128, 160, 3}, "image_tensor:0", DType::kUInt8);
  model.gives("detection_boxes:0", boxes({1, 100, 4}, {1, 0, 3, 2}, 160, 128));
  model.gives("detection_classes:0", labels<float>({1, 100}, {3, 1, 80}));
  model.gives("detection_scores:0", scores({1, 100}, 0.99F));
  model.gives("num_detections:0", filled({1}, 3));
  const Found found = find_in(model.build());
  expect_found(found, "tensorflow", kThings);
  EXPECT_EQ(found.card.scale, 1);
}

TEST(ZooSsd, ReadsAsManyAsThereAre) {
  FamilyModel model(kInputShape, "image");
  model.gives("bboxes", boxes({1, 200, 4}, {0, 1, 2, 3}, 160, 128));
  model.gives("labels", labels<std::int64_t>({1, 200}, {3, 1, 80}));
  model.gives("scores", scores({1, 200}, 0.99F)).cut({{0, 1}, {1, 1}, {2, 1}}, 3);
  expect_found(find_in(model.build()), "ssd-zoo", kThings);
}

TEST(EfficientDetEndToEnd, ReadsRowsOfCocosOwnNumbers) {
  const std::array<float, 3> categories = {3, 1, 90};
  Tensor tensor = filled({1, 100, 7}, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    const Known& thing = kThings[i];
    const std::array<float, 7> row = {0,           thing.box[1], thing.box[0], thing.box[3], thing.box[2],
                                      thing.score, categories[i]};
    std::ranges::copy(row, &at(tensor, {0, static_cast<std::int64_t>(i), 0}));
  }
  const auto model = [&](const std::string& name) {
    return FamilyModel({1, 128, 160, 3}, "image_arrays:0", DType::kUInt8).gives(name, tensor).build();
  };
  const Found found = find_in(model("detections:0"));
  expect_found(found, "efficientdet-e2e", kThings);
  EXPECT_EQ(found.card.scale, 1);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[2].class_name, "toothbrush");
  EXPECT_EQ(recognised(model("rows")), "");
  expect_found(find_in(model("rows"), "[output]\ndecoder = \"efficientdet-e2e\"\n"), "efficientdet-e2e", kThings);
}

/// Rows of image, corners, and a class and a score in the COLUMNS; the fourth and later ones must not be read.
Graph flat_rows(std::int64_t class_column, std::int64_t score_column) {
  Tensor tensor = filled({100, 7}, 0.99F);
  for (std::int64_t i = 0; i < 3; ++i) {
    const Known& thing = kThings[static_cast<std::size_t>(i)];
    at(tensor, {i, 0}) = 0;
    for (std::int64_t k = 0; k < 4; ++k) at(tensor, {i, 1 + k}) = thing.box[static_cast<std::size_t>(k)];
    at(tensor, {i, class_column}) = static_cast<float>(thing.class_id);
    at(tensor, {i, score_column}) = thing.score;
  }
  return FamilyModel(kInputShape).gives("output", tensor).cut({{0, 0}}, 3).build();
}

TEST(Yolov7EndToEnd, ReadsTheClassBeforeTheScore) {
  EXPECT_EQ(recognised(flat_rows(5, 6)), "");
  expect_found(find_in(flat_rows(5, 6), "[output]\ndecoder = \"yolov7-e2e\"\n"), "yolov7-e2e", kThings);
}

TEST(YoloNasEndToEnd, ReadsTheScoreBeforeTheClass) {
  EXPECT_EQ(recognised(flat_rows(6, 5)), "");
  expect_found(find_in(flat_rows(6, 5), "[output]\ndecoder = \"yolo-nas-e2e\"\n"), "yolo-nas-e2e", kThings);
}

TEST(YoloNas, ReadsBoxesAndScoresPerCell) {
  const std::int64_t cells = 20 * 16 + 10 * 8 + 5 * 4;
  Tensor boxes = filled({1, cells, 4}, 1);
  Tensor scores = filled({1, cells, 80}, 0);
  for (std::size_t i = 0; i < kThings.size(); ++i) {
    const auto row = static_cast<std::int64_t>(40 * i + 3);
    for (std::int64_t k = 0; k < 4; ++k) at(boxes, {0, row, k}) = kThings[i].box[static_cast<std::size_t>(k)];
    at(scores, {0, row, kThings[i].class_id}) = kThings[i].score;
  }
  const Graph model = FamilyModel(kInputShape).gives("pred_bboxes", boxes).gives("pred_scores", scores).build();
  expect_found(find_in(model, "[output]\ndecoder = \"yolo-nas\"\n"), "yolo-nas", kThings);
}

/// Three objects, followed by rows that must not be read, the first of them of image END.
Tensor detection_output(float end, std::int64_t rows = 200) {
  Tensor tensor = filled({1, 1, rows, 7}, 0);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::array<float, 7> row = {i == 3 ? end : 0, 1, 0.99F, 0.25F, 0.25F, 0.5F, 0.5F};
    if (i < 3) {
      const Known& thing = kThings[static_cast<std::size_t>(i)];
      row = {0,
             static_cast<float>(thing.class_id + 1),
             thing.score,
             thing.box[0] / 160,
             thing.box[1] / 128,
             thing.box[2] / 160,
             thing.box[3] / 128};
    }
    std::ranges::copy(row, &at(tensor, {0, 0, i, 0}));
  }
  return tensor;
}

TEST(DetectionOutput, ReadsRowsUpToTheEnd) {
  const Found found = find_in(FamilyModel(kInputShape, "data").gives("detection_out", detection_output(-1)).build());
  expect_found(found, "detection-output", kThings);
  EXPECT_EQ(found.card.color, ChannelOrder::kBgr);
}

TEST(DetectionOutput, ReadsAsManyAsThereAre) {
  FamilyModel model(kInputShape, "data");
  model.gives("DetectionOutput", detection_output(0)).cut({{0, 2}}, 3);
  expect_found(find_in(model.build()), "detection-output", kThings);
}

TEST(DetectionOutput, ReadsAllWhereNothingEndsThem) {
  const Graph model = FamilyModel(kInputShape, "data").gives("rows", detection_output(0, 3)).build();
  EXPECT_EQ(recognised(model), "");
  expect_found(find_in(model, "[output]\ndecoder = \"detection-output\"\n"), "detection-output", kThings);
}

/// Four outputs whose names begin with PREFIX, and the COUNT.
Graph four_outputs(const std::string& prefix, const std::string& count_name) {
  FamilyModel four(kInputShape);
  Tensor count(DType::kInt32, {1, 1});
  count.data<std::int32_t>()[0] = 3;
  four.gives(count_name, count).gives(prefix + "_boxes", boxes({1, 100, 4}, {0, 1, 2, 3}, 1, 1));
  four.gives(prefix + "_scores", scores({1, 100}, 0.99F));
  four.gives(prefix + "_classes", labels<std::int32_t>({1, 100}, {2, 0, 79}));
  return four.build();
}

TEST(TensorRtDetector, ReadsItsFourOutputs) {
  expect_found(find_in(four_outputs("det", "num_dets")), "tensorrt", kThings);
}

TEST(TensorRtDetector, ReadsTheBatchFormatOfYoloNas) {
  expect_found(find_in(four_outputs("graph2_pred", "graph2_num_predictions")), "tensorrt", kThings);
  EXPECT_EQ(recognised(four_outputs("graph2_pred", "count")), "");
}

}  // namespace
}  // namespace saccade::test
