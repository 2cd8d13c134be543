#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/second_models.hpp"
#include "validate/fixture.hpp"
#include "validate/report.hpp"

namespace saccade {
namespace {

using SideBySide = test::ValidateFixture;

TEST_F(SideBySide, TheSameModelTwiceIsNotWorse) {
  write_boxes();
  const std::string model = test::write_box_detector(models_);
  const Validation found = run(model, "coco", model);
  ASSERT_TRUE(found.against);
  EXPECT_TRUE(found.against->holds());
  ASSERT_EQ(found.against->differences.size(), 1U);
  EXPECT_EQ(found.against->differences[0].points, 0);
  EXPECT_EQ(found.against->differences[0].sets.interval->high, 0);
  EXPECT_EQ(found.against->agreement.matched90.value(), 1);
  EXPECT_EQ(found.models[1].name, "boxes (B)");
  EXPECT_NE(to_text(found).str().find("holds"), std::string::npos);
}

TEST_F(SideBySide, AWorseModelFailsTheVerdict) {
  write_boxes();
  const std::string right = test::write_box_detector(models_);
  const std::string wrong = test::write_box_detector(models_, "swapped");
  std::string card = test::bytes_of_file(models_ / "swapped.toml");
  card.replace(card.find("[\"near\", \"far\"]"), 15, "[\"far\", \"near\"]");
  models_.write("swapped.toml", card);
  const Validation found = run(wrong, "coco", right);
  EXPECT_FALSE(found.against->holds());
  EXPECT_NEAR(found.against->differences[0].points, -100, 1e-6);
  EXPECT_EQ(found.against->agreement.matched50.value(), 0);
  const std::string text = to_text(found).str();
  EXPECT_NE(text.find("FAILS"), std::string::npos) << text;
  EXPECT_NE(text.find("-100.00"), std::string::npos) << text;
  options_.tolerance = 100;
  EXPECT_TRUE(run(wrong, "coco", right).against->holds());
}

TEST_F(SideBySide, ModelsThatKnowOtherCategoriesAreNotCompared) {
  write_boxes();
  const std::string both = test::write_box_detector(models_);
  const std::string one = test::write_box_detector(models_, "one");
  std::string card = test::bytes_of_file(models_ / "one.toml");
  card.replace(card.find("\"far\""), 5, "\"moon\"");
  models_.write("one.toml", card);
  const Validation found = run(both, "coco", one);
  EXPECT_TRUE(found.against->differences.empty());
  EXPECT_FALSE(found.against->holds());
  const std::string text = to_text(found).str();
  EXPECT_NE(text.find("not compared"), std::string::npos) << text;
  EXPECT_NE(text.find("FAILS: boxes and one have nothing to compare"), std::string::npos) << text;
}

TEST_F(SideBySide, TextsOfSecondModelsAreCompared) {
  write_boxes();
  test::write_text_recognition(models_, "reader");
  test::write_text_recognition(models_, "other");
  std::string card = test::bytes_of_file(models_ / "other.toml");
  card.replace(card.find("\"b\""), 3, "\"c\"");
  models_.write("other.toml", card);
  const std::string keys = "shape = [1, 3, 8, 16]\n";
  const std::string reference = test::write_first_model(models_, "reader.onnx", keys, "first");
  const Validation same = run(reference, "coco", reference);
  EXPECT_EQ(same.against->agreement.same_texts.part, 4);
  EXPECT_EQ(same.against->agreement.same_texts.whole, 4);
  const Validation found = run(test::write_first_model(models_, "other.onnx", keys, "second"), "coco", reference);
  EXPECT_EQ(found.against->agreement.same_texts.part, 0);
  EXPECT_EQ(found.against->differences[0].points, 0) << "the boxes are the same";
  EXPECT_NE(to_text(found).str().find("character error rate (CER) 50.00 %"), std::string::npos) << to_text(found).str();
  const auto json = to_json(found)["against"]["agreement"];
  EXPECT_EQ(json["same_texts"], nlohmann::ordered_json({{"share", 0.0}, {"part", 0}, {"of", 4}}));
  EXPECT_EQ(json["character_error_rate"], nlohmann::ordered_json({{"share", 0.5}, {"part", 4}, {"of", 8}}));
}

TEST_F(SideBySide, ClassesOfSecondModelsAreComparedIfBothHaveOne) {
  write_boxes();
  test::write_color_classifier(models_);
  const std::string reference = test::write_first_model(models_, "color.onnx", "", "first");
  EXPECT_EQ(run(reference, "coco", reference).against->agreement.same_second_class.value(), 1);
  const Validation alone = run(test::write_box_detector(models_, "alone"), "coco", reference);
  EXPECT_EQ(alone.against->agreement.same_second_class.whole, 0);
  EXPECT_TRUE(alone.against->holds());
}

TEST_F(SideBySide, AnInterruptionKeepsTheEvaluatedImages) {
  write_boxes();
  int calls = 0;
  ValidateOptions options;
  options.data = "coco:" + folder_.string();
  options.model.file = test::write_box_detector(models_);
  options.conditions = {"night"};
  const Validation found =
      validate(options, {.progress = [](const std::string&, double) {}, .stop = [&] { return ++calls > 1; }});
  EXPECT_EQ(found.images, 1U);
  EXPECT_TRUE(found.is_interrupted);
  EXPECT_TRUE(found.conditions.empty());
}

TEST_F(SideBySide, AnInterruptionAfterTheImagesIsReported) {
  write_boxes();
  ValidateOptions options;
  options.data = "coco:" + folder_.string();
  options.model.file = test::write_box_detector(models_);
  // Called before each of the two images, before the condition, and before each resample.
  const auto until = [&](int times) {
    int calls = 0;
    return validate(options, {.progress = [](const std::string&, double) {}, .stop = [&] { return ++calls > times; }});
  };
  options.conditions = {"night"};
  const Validation early = until(2);
  EXPECT_EQ(early.images, 2U);
  EXPECT_TRUE(early.conditions.empty());
  EXPECT_TRUE(early.is_interrupted);
  EXPECT_NE(to_text(early).str().find("interrupted"), std::string::npos) << to_text(early).str();
  options.conditions.clear();
  options.against = options.model;
  const Validation few = until(2 + 5);
  EXPECT_TRUE(few.is_interrupted);
  EXPECT_EQ(few.against->differences[0].sets.resamples, 5);
  const auto json = to_json(few)["against"]["differences"][0];
  EXPECT_TRUE(json["interval"].is_null()) << json;
  EXPECT_EQ(json["resamples"], 5);
  EXPECT_NE(to_text(few).str().find("5 resamples"), std::string::npos) << to_text(few).str();
  EXPECT_FALSE(until(2 + options.resample.resamples).is_interrupted);
}

}  // namespace
}  // namespace saccade
