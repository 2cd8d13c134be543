#include <algorithm>

#include "family_models.hpp"

// Ultralytics' RT-DETR, encoded from known boxes.
namespace saccade::test {
namespace {

/// x, y, width, height of a thing, normalized to the image.
std::array<float, 4> normalized(const Known& thing) {
  return {thing.x() / 160, thing.y() / 128, thing.width() / 160, thing.height() / 128};
}

/// Sigmoids of boxes and of the scores of CLASSES, concatenated.
Graph rtdetr_rows(int classes, const std::vector<Known>& things) {
  Tensor boxes = filled({1, 300, 4}, 0);
  Tensor scores = filled({1, 300, classes}, -9);
  for (std::size_t i = 0; i < things.size(); ++i) {
    const auto row = static_cast<std::int64_t>(7 * i + 2);
    for (std::int64_t k = 0; k < 4; ++k)
      at(boxes, {0, row, k}) = logit(normalized(things[i])[static_cast<std::size_t>(k)]);
    at(scores, {0, row, things[i].class_id}) = logit(things[i].score);
  }
  FamilyModel model(kInputShape);
  GraphBuilder& b = model.builder();
  return model
      .gives("output0",
             b.op("Concat", {b.op("Sigmoid", {model.constant(boxes)}), b.op("Sigmoid", {model.constant(scores)})},
                  {{"axis", std::int64_t{2}}}))
      .build();
}

TEST(RtDetrRows, AreReadWithoutMetadata) {
  const Found found = find_in(rtdetr_rows(80, kThings));
  expect_found(found, "rtdetr-rows", kThings);
  EXPECT_EQ(found.card.resize, ResizeMode::kStretch);
  EXPECT_FLOAT_EQ(found.card.scale, 1.0F / 255);
}

TEST(RtDetrRows, AreReadByMetadata) {
  std::vector<Known> things = kThings;
  for (Known& thing : things) thing.class_id = std::min(thing.class_id, 2);
  Graph model = rtdetr_rows(3, things);
  EXPECT_EQ(recognised(model), "");
  model.metadata = {{"task", "detect"}, {"names", "{0: 'cat', 1: 'dog', 2: 'cow'}"}};
  const Found found = find_in(std::move(model));
  expect_found(found, "rtdetr-rows", things);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[0].class_name, "cow");
}

TEST(RtDetrRows, KeepWhatOverlaps) {
  const std::vector<Known> twice = {{{10, 20, 31, 44}, 0.9F, 2}, {{10, 20, 31, 44}, 0.8F, 2}};
  expect_found(find_in(rtdetr_rows(80, twice)), "rtdetr-rows", twice);
}

/// Rows x, y, width, height, score, class. A GridSample takes part if SAMPLES.
Graph selected_rows(bool samples) {
  Tensor rows = filled({1, 300, 6}, 0);
  for (std::size_t i = 0; i < kThings.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    for (std::int64_t k = 0; k < 4; ++k) at(rows, {0, row, k}) = normalized(kThings[i])[static_cast<std::size_t>(k)];
    at(rows, {0, row, 4}) = kThings[i].score;
    at(rows, {0, row, 5}) = static_cast<float>(kThings[i].class_id);
  }
  FamilyModel model(kInputShape);
  GraphBuilder& b = model.builder();
  ValueId output = model.constant(rows);
  if (samples) {
    const ValueId sampled =
        b.op("GridSample", {model.constant(filled({1, 1, 2, 2}, 0)), model.constant(filled({1, 1, 1, 2}, 0))});
    output = b.op("Add", {output, b.op("Reshape", {sampled, b.ints({1, 1, 1})})});
  }
  return model.gives("output0", output).build();
}

TEST(RtDetrEndToEnd, IsKnownByItsAttention) {
  const Found found = find_in(selected_rows(true));
  expect_found(found, "rtdetr-e2e", kThings);
  EXPECT_EQ(found.card.resize, ResizeMode::kStretch);
  // The same shape without it is YOLO's.
  EXPECT_EQ(recognised(selected_rows(false)), "yolo-e2e");
}

TEST(RtDetrEndToEnd, IsKnownByItsMetadata) {
  std::string names = "{";
  for (int i = 0; i < 80; ++i) names += std::to_string(i) + ": 'kind " + std::to_string(i) + "', ";
  Graph model = selected_rows(false);
  model.metadata = {{"task", "detect"}, {"names", names + "}"}, {"head", "Detect"}};
  EXPECT_EQ(recognised(model), "yolo-e2e");
  model.metadata["head"] = "RTDETRDecoder";
  const Found found = find_in(std::move(model));
  expect_found(found, "rtdetr-e2e", kThings);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[0].class_name, "kind 2");
}

}  // namespace
}  // namespace saccade::test
