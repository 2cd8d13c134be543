#include "validate/data/coco_evaluator.hpp"

#include <gtest/gtest.h>

#include "support/cpu_model.hpp"
#include "support/tiny_models.hpp"
#include "validate/data.hpp"

namespace saccade {
namespace {

TEST(CocoEvaluator, ImagesWhoseSizeTheFileOmitsHaveTheirOwn) {
  const test::TempFolder folder;
  const CocoAnnotations truth = read_coco_annotations(folder.write("instances.json", R"({
"categories": [{"id": 1, "name": "near"}], "images": [{"id": 1, "file_name": "1.png"}, {"id": 2, "file_name": "2.png"}],
"annotations": [
{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4], "segmentation": [[0, 0, 4, 0, 4, 4, 0, 4]]},
{"id": 2, "image_id": 2, "category_id": 1, "bbox": [0, 0, 4, 4], "segmentation": [[0, 0, 4, 0, 4, 4, 0, 4]]}]})"));
  const std::vector<DataImage> images = {{.file = "1.png", .id = 1, .said_by = {}},
                                         {.file = "2.png", .id = 2, .said_by = {}}};
  CocoEvaluator evaluator(test::load_on_cpu(test::write_box_detector(folder)), {.boxes = &truth, .masks = &truth},
                          images, nullptr);
  const std::vector<MaskRun> runs = mask_of(truth.images[0].objects[0].segmentation, 8, 8);
  Result result;
  result.width = 8;
  result.height = 8;
  evaluator.add(0, result);  // whether it predicts masks is known with the next one
  result.detections = {{{0, 0, 4, 4}, 0, "near", 0.9F}};
  result.detections[0].mask = Mask{runs, area_of(runs)};
  evaluator.add(1, result);

  const std::vector<Score> scores = evaluator.scores();
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[1].name, "mask");
  EXPECT_NEAR(scores[1].headline(), 0.5, 0.01);
}

}  // namespace
}  // namespace saccade
