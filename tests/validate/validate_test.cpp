#include "validate/validate.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "validate/fixture.hpp"
#include "validate/report.hpp"

namespace saccade {
namespace {

using test::expect_error;
using test::figure;
using ValidateTest = test::ValidateFixture;

TEST_F(ValidateTest, EvaluatesBoxesByCategoriesOfTheSameName) {
  write_boxes();
  const Validation found = run(test::write_box_detector(models_), "coco");
  // "near" is correct in both images; "far" is correct in the first, and a false positive after the true one in the
  // second.
  EXPECT_NEAR(figure(found, "ap"), 1, 1e-9);
  EXPECT_EQ(found.images, 2U);
  ASSERT_EQ(found.models[0].scores.size(), 1U);
  EXPECT_EQ(found.models[0].scores[0].classes[1].name, "far");
  EXPECT_EQ(found.models[0].scores[0].classes[1].count, 1);
  EXPECT_TRUE(found.models[0].notes.empty());
  EXPECT_GT(progress_, 0);
}

TEST_F(ValidateTest, AFileOfAnnotationsEvaluatesItsOwnImagesAlone) {
  write_boxes();
  test::write_solid_image(folder_, "images/0.png", 8, 8);
  test::write_file(folder_, "person_keypoints.json", R"({"categories": [{"id": 1, "name": "person"}],
"images": [{"id": 0, "file_name": "0.png", "width": 8, "height": 8}],
"annotations": [{"id": 1, "image_id": 0, "category_id": 1, "bbox": [1, 2, 4, 4], "keypoints": [1, 2, 2]}]})");
  const Validation found = run(test::write_box_detector(models_), "coco");
  // The first of the predictions with equal confidence are in the other file's image: wrong ones would cost precision.
  EXPECT_EQ(found.images, 3U);
  EXPECT_NEAR(figure(found, "ap"), 1, 1e-9);
  ASSERT_EQ(found.models[0].notes.size(), 1U);
  EXPECT_NE(found.models[0].notes[0].find("1 of the 3 images"), std::string::npos) << found.models[0].notes[0];
}

TEST_F(ValidateTest, WritesTheEvaluatedPredictions) {
  write_boxes();
  options_.results = folder_ / "results.json";
  run(test::write_box_detector(models_), "coco");
  const auto written = nlohmann::json::parse(test::bytes_of_file(options_.results));
  ASSERT_EQ(written.size(), 4U);
  EXPECT_EQ(written[0].at("image_id"), 1);
  EXPECT_EQ(written[0].at("category_id"), 7);
  EXPECT_EQ(written[0].at("bbox"), (nlohmann::json{1.0, 2.0, 4.0, 4.0}));
  EXPECT_EQ(written[3].at("image_id"), 2);
  EXPECT_EQ(written[3].at("category_id"), 3);
}

TEST_F(ValidateTest, ReportsMismatches) {
  write_boxes();
  std::string annotations = test::box_annotations();
  annotations.replace(annotations.find("\"far\""), 5, "\"moon\"");
  test::write_file(folder_, "instances.json", annotations);
  const Validation found = run(test::write_box_detector(models_), "coco");
  ASSERT_EQ(found.models[0].notes.size(), 2U);
  EXPECT_NE(found.models[0].notes[0].find("far"), std::string::npos);
  EXPECT_NE(found.models[0].notes[1].find("moon"), std::string::npos);
  EXPECT_NEAR(figure(found, "ap"), 1, 1e-9);
  annotations.replace(annotations.find("\"near\""), 6, "\"sun\"");
  test::write_file(folder_, "instances.json", annotations);
  expect_error([&] { run(test::write_box_detector(models_), "coco"); }, {"near", "sun", "boxes"});
}

TEST_F(ValidateTest, UnselectedClassesNeedNoCategory) {
  write_boxes();
  options_.model.options.post.classes = {"near"};
  const Validation found = run(test::write_box_detector(models_), "coco");
  EXPECT_TRUE(found.models[0].notes.empty()) << found.models[0].notes[0];
  ASSERT_EQ(found.models[0].scores[0].classes.size(), 1U);
  EXPECT_EQ(found.models[0].scores[0].classes[0].name, "near");
  std::string annotations = test::box_annotations();
  annotations.replace(annotations.find("\"far\""), 5, "\"moon\"");
  test::write_file(folder_, "instances.json", annotations);
  const Validation strange = run(test::write_box_detector(models_), "coco");
  ASSERT_EQ(strange.models[0].notes.size(), 1U);
  EXPECT_NE(strange.models[0].notes[0].find("moon"), std::string::npos);
  options_.model.options.post.classes = {"far"};
  expect_error([&] { run(test::write_box_detector(models_), "coco"); }, {"classes (far)", "moon"});
}

TEST_F(ValidateTest, AModelOfAnotherTaskIsRefused) {
  write_boxes();
  expect_error([&] { run(test::write_color_classifier(models_), "coco"); }, {"color", "no boxes", "classify"});
}

TEST_F(ValidateTest, AnImageOfAnotherSizeThanDeclaredIsNamed) {
  write_boxes();
  test::write_solid_image(folder_, "images/2.png", 9, 8);
  expect_error([&] { run(test::write_box_detector(models_), "coco"); },
               {"images/2.png", "9x8", "instances.json", "8x8"});
}

TEST_F(ValidateTest, AnImageThatCannotBeReadIsNamed) {
  write_boxes();
  test::write_file(folder_, "images/2.png", "no image");
  expect_error([&] { run(test::write_box_detector(models_), "coco"); }, {"images/2.png"});
}

TEST_F(ValidateTest, AnEmptySetIsNamed) {
  for (const char* kind : {"imagenet", "masks", "depth", "coco"})
    expect_error([&] { run(test::write_color_classifier(models_), kind); }, {folder_.string()});
}

TEST_F(ValidateTest, EvaluatesWorseImagesToo) {
  write_maps();
  options_.conditions = {"night", "low-contrast"};
  const Validation found = run(test::write_color_mapper(models_), "masks");
  ASSERT_EQ(found.conditions.size(), 2U);
  EXPECT_EQ(found.conditions[0].name, "night");
  EXPECT_EQ(found.conditions[1].scores[0][0].headline(), found.models[0].scores[0].headline());  // red stays red
  const std::string text = to_text(found).str();
  EXPECT_NE(text.find("original"), std::string::npos) << text;
  EXPECT_NE(text.find("a tenth of the light"), std::string::npos) << text;
}

TEST_F(ValidateTest, TakesALimitSpreadOverTheSet) {
  write_boxes();
  options_.limit = 1;
  const Validation found = run(test::write_box_detector(models_), "coco");
  EXPECT_EQ(found.images, 1U);
  EXPECT_EQ(found.all_images, 2U);
  EXPECT_NE(to_text(found).str().find("1 of them evaluated"), std::string::npos);
}

}  // namespace
}  // namespace saccade
