#include "measure/demo/scene_accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace saccade {
namespace {

const SceneOptions kScene{.seed = 7, .width = 160, .height = 120, .fps = 2, .objects = 20};

/// A frame's ground truth as predictions.
PredictedFrame all_right(const SceneTruth& truth) {
  PredictedFrame predictions{.frame = truth.frame, .has_masks = true, .place = truth.place};
  for (const TrueObject& object : objects_of(truth))
    predictions.found.push_back(
        {.box = object.box, .class_id = object.class_id, .score = 0.9, .mask = object.mask, .keypoints = {}});
  const GridPlace whole{.columns = truth.width, .rows = truth.height, .seen = {0, 0, truth.width, truth.height}};
  predictions.depth = KeptDepth{whole, DepthKind::kMetric, truth.depth};
  return predictions;
}

TEST(SceneAccuracy, MasksAreThePixelsOfTheirObjects) {
  Scene scene(kScene);
  const SceneTruth& truth = scene.truth(3);
  const std::vector<TrueObject> objects = objects_of(truth);
  ASSERT_EQ(objects.size(), truth.objects.size());
  ASSERT_FALSE(objects.empty());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(area_of(objects[i].mask), truth.objects[i].visible_pixels);
    for (const MaskRun& run : objects[i].mask)
      for (int x = run.x1; x < run.x2; ++x)
        ASSERT_EQ(truth.identities[static_cast<std::size_t>(run.y * truth.width + x)], truth.objects[i].identity);
  }
}

TEST(SceneAccuracy, TheGroundTruthScoresOne) {
  Scene scene(kScene);
  SceneEvaluator evaluator(kScene);
  for (int frame = 0; frame < 6; ++frame) evaluator.add(all_right(scene.truth(frame)));
  const SceneScores scores = evaluator.scores();
  EXPECT_DOUBLE_EQ(scores.boxes.ap, 1);
  ASSERT_TRUE(scores.masks && scores.depth && scores.place);
  EXPECT_DOUBLE_EQ(scores.masks->ap, 1);
  EXPECT_NEAR(scores.depth->abs_rel, 0, 1e-6);
  EXPECT_DOUBLE_EQ(scores.depth->delta1, 1);
  EXPECT_DOUBLE_EQ(*scores.place, 1);
  EXPECT_EQ(evaluator.mask_scores(0)->objects, evaluator.box_scores(0).objects);
}

TEST(SceneAccuracy, EachKindOfPredictionIsEvaluatedSeparately) {
  Scene scene(kScene);
  SceneEvaluator evaluator(kScene);
  for (int frame = 0; frame < 6; ++frame) {
    PredictedFrame predictions = all_right(scene.truth(frame));
    for (FoundObject& found : predictions.found) found.mask.clear();
    for (float& metres : predictions.depth->cells) metres *= 1.5F;
    if (frame % 2 == 0) predictions.place = (predictions.place + 1) % 4;
    evaluator.add(predictions);
  }
  const SceneScores scores = evaluator.scores();
  EXPECT_DOUBLE_EQ(scores.boxes.ap, 1);
  EXPECT_DOUBLE_EQ(scores.masks->ap, 0);
  EXPECT_NEAR(scores.depth->abs_rel, 0.5, 1e-3);
  EXPECT_DOUBLE_EQ(scores.depth->delta1, 0);
  EXPECT_DOUBLE_EQ(*scores.place, 0.5);
}

TEST(SceneAccuracy, WhatIsFarDoesNotCountForTheDepth) {
  Scene scene(kScene);
  SceneEvaluator evaluator(kScene);
  PredictedFrame predictions = all_right(scene.truth(0));
  for (float& metres : predictions.depth->cells)
    if (metres > kSceneDepth) metres = 1;
  evaluator.add(predictions);
  EXPECT_NEAR(evaluator.scores().depth->abs_rel, 0, 1e-6);
}

TEST(SceneAccuracy, WhatAModelDoesNotGiveIsNothing) {
  Scene scene(kScene);
  SceneEvaluator evaluator(kScene);
  PredictedFrame predictions = all_right(scene.truth(0));
  predictions.has_masks = false;
  predictions.depth.reset();
  predictions.place = -1;
  evaluator.add(predictions);
  const SceneScores scores = evaluator.scores();
  EXPECT_DOUBLE_EQ(scores.boxes.ap, 1);
  EXPECT_FALSE(scores.masks || scores.depth || scores.place);
  EXPECT_FALSE(evaluator.mask_scores(0));
}

TEST(SceneAccuracy, AFrameWithoutPredictionsMissesItsMasks) {
  Scene scene(kScene);
  SceneEvaluator evaluator(kScene);
  evaluator.add(all_right(scene.truth(0)));
  evaluator.add({.frame = 1, .found = {}, .has_masks = true, .depth = {}});
  const SceneScores scores = evaluator.scores();
  EXPECT_LT(scores.boxes.ap, 1);
  EXPECT_DOUBLE_EQ(scores.masks->ap, scores.boxes.ap);
}

TEST(SceneAccuracy, ALongRunKeepsFewMapsSpreadEvenly) {
  PredictedFrames kept;
  constexpr int kFrames = 3000;
  for (int frame = 0; frame < kFrames; ++frame) {
    PredictedFrame predictions{.frame = frame, .found = {{.mask = {{0, 0, 1}}}}, .has_masks = true, .place = 1};
    predictions.depth = KeptDepth{.place = {}, .cells = {1.0F}};
    kept.add(std::move(predictions));
  }
  ASSERT_EQ(kept.frames().size(), static_cast<std::size_t>(kFrames));
  std::size_t maps = 0;
  std::int64_t last = -1;
  std::int64_t step = -1;
  for (const PredictedFrame& each : kept.frames()) {
    EXPECT_EQ(each.place, 1);
    ASSERT_EQ(each.found.size(), 1U);
    EXPECT_EQ(each.found[0].mask.empty(), !each.has_masks);
    EXPECT_EQ(each.depth.has_value(), each.has_masks);
    if (!each.has_masks) continue;
    if (step > 0) {
      EXPECT_EQ(each.frame - last, step);
    }
    if (last >= 0) step = each.frame - last;
    last = each.frame;
    ++maps;
  }
  EXPECT_LE(maps, PredictedFrames::kMostMaps);
  EXPECT_GT(maps, PredictedFrames::kMostMaps / 2 - 2);
}

}  // namespace
}  // namespace saccade
