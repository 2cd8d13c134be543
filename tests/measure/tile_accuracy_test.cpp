#include <gtest/gtest.h>

#include "measure/demo/scene_accuracy.hpp"
#include "saccade/saccade.hpp"
#include "support/cpu_model.hpp"

namespace saccade {
namespace {

/// Small objects in a large frame.
const SceneOptions kLargeScene{
    .seed = 8, .width = 3840, .height = 2160, .fps = 1, .objects = 40, .night = 0.0F, .blur = 0.0F, .noise = 0.0F};

SceneScores scores_with(std::optional<TileOptions> tiles) {
  const Model model = test::load_on_cpu(SACCADE_SOURCE "/models/scene_model.onnx", {.tiles = tiles});
  FrameSession session(model);
  const ScenePredictions predictions(model);
  Scene scene(kLargeScene);
  SceneEvaluator evaluator(kLargeScene);
  std::vector<std::uint8_t> pixels(std::size_t{3} * 3840 * 2160);
  const RgbView frame{pixels.data(), 3 * 3840, 3840, 2160};
  for (std::int64_t i = 0; i < 2; ++i) {
    scene.render(10 * i, frame);
    PredictedFrame predicted = predictions.of(session.run(view_of(frame)));
    predicted.frame = 10 * i;
    evaluator.add(predicted);
  }
  return evaluator.scores();
}

TEST(TileAccuracy, SmallObjectsOfALargeFrameAreFoundOnTiles) {
  const SceneScores whole = scores_with({});
  const SceneScores tiles = scores_with(TileOptions{.size = 1280, .overlap = 0.2F});
  RecordProperty("whole", std::to_string(whole.boxes.ap));
  RecordProperty("tiles", std::to_string(tiles.boxes.ap));
  std::printf("box AP %.3f and mask AP %.3f on the whole frame, %.3f and %.3f on tiles\n", whole.boxes.ap,
              whole.masks->ap, tiles.boxes.ap, tiles.masks->ap);
  EXPECT_GT(tiles.boxes.ap, whole.boxes.ap + 0.1);
  EXPECT_GT(tiles.masks->ap, whole.masks->ap + 0.1);
}

}  // namespace
}  // namespace saccade
