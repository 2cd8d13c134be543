#include "validate/validate.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "saccade/npy.hpp"
#include "support/ordinary_user.hpp"
#include "support/png_writer.hpp"
#include "support/tiny_models.hpp"
#include "validate/data.hpp"
#include "validate/report.hpp"

namespace saccade {
namespace {

using test::expect_error;

class ValidateTest : public testing::Test {
 protected:
  Validation run(const std::string& model, const std::string& kind, const std::string& against = {}) {
    ValidateOptions options = options_;
    options.data = kind + ":" + folder_.string();
    options.model.file = model;
    options.model.options.confidence = 0.001F;
    if (!against.empty()) options.against = Candidate{against, options.model.options};
    return validate(options, {.progress = [&](const std::string&, double share) { progress_ = share; }});
  }

  /// Two pictures with the boxes that write_box_detector() sees in both.
  void write_boxes() {
    test::write_file(folder_, "instances.json", test::box_annotations());
    for (const char* name : {"images/1.png", "images/2.png"}) test::write_picture(folder_, name, 8, 8);
  }

  /// Two red pictures, the second with a mask that says green for its upper half.
  void write_maps() {
    for (const char* name : {"images/a.png", "images/b.png"}) test::write_picture(folder_, name, 8, 8, {200, 0, 0});
    std::vector<std::uint16_t> classes(64, 0);
    test::write_file(folder_, "masks/a.png", test::png_of(8, 8, 8, classes, true));
    std::fill_n(classes.begin(), 32, 1);
    classes[0] = 255;
    test::write_file(folder_, "masks/b.png", test::png_of(8, 8, 8, classes));
  }

  test::TempFolder models_;
  test::TempFolder folder_;
  ValidateOptions options_;
  double progress_ = -1;
};

double figure(const Validation& validation, const std::string& name, std::size_t model = 0) {
  for (const Score& score : validation.models[model].scores)
    for (const Score::Figure& each : score.figures)
      if (each.name == name) return each.value;
  return -2;
}

TEST_F(ValidateTest, JudgesBoxesByCategoriesOfTheSameName) {
  write_boxes();
  const Validation found = run(test::write_box_detector(models_), "coco");
  // "near" is right in both pictures; "far" is right in the first, and a false answer in the second, not before it.
  EXPECT_NEAR(figure(found, "ap"), 1, 1e-9);
  EXPECT_EQ(found.pictures, 2U);
  ASSERT_EQ(found.models[0].scores.size(), 1U);
  EXPECT_EQ(found.models[0].scores[0].classes[1].name, "far");
  EXPECT_EQ(found.models[0].scores[0].classes[1].count, 1);
  EXPECT_TRUE(found.models[0].notes.empty());
  EXPECT_GT(progress_, 0);
}

TEST_F(ValidateTest, AFileOfAnnotationsJudgesItsOwnPicturesAlone) {
  write_boxes();
  test::write_picture(folder_, "images/0.png", 8, 8);
  test::write_file(folder_, "person_keypoints.json", R"({"categories": [{"id": 1, "name": "person"}],
"images": [{"id": 0, "file_name": "0.png", "width": 8, "height": 8}],
"annotations": [{"id": 1, "image_id": 0, "category_id": 1, "bbox": [1, 2, 4, 4], "keypoints": [1, 2, 2]}]})");
  const Validation found = run(test::write_box_detector(models_), "coco");
  // The first of the answers that are equally sure lie in the other file's picture: wrong ones would cost precision.
  EXPECT_EQ(found.pictures, 3U);
  EXPECT_NEAR(figure(found, "ap"), 1, 1e-9);
  ASSERT_EQ(found.models[0].notes.size(), 1U);
  EXPECT_NE(found.models[0].notes[0].find("1 of the 3 pictures"), std::string::npos) << found.models[0].notes[0];
}

TEST_F(ValidateTest, WritesTheAnswersThatItJudged) {
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

TEST_F(ValidateTest, SaysWhatDoesNotMatch) {
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

TEST_F(ValidateTest, ClassesThatWereNotAskedForAreNoneThatLackACategory) {
  write_boxes();
  options_.model.options.classes = {"near"};
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
  options_.model.options.classes = {"far"};
  expect_error([&] { run(test::write_box_detector(models_), "coco"); }, {"classes (far)", "moon"});
}

TEST_F(ValidateTest, AModelOfAnotherTaskIsRefused) {
  write_boxes();
  expect_error([&] { run(test::write_color_classifier(models_), "coco"); }, {"color", "no boxes", "classify"});
}

TEST_F(ValidateTest, APictureThatLiesAboutItsSizeIsNamed) {
  write_boxes();
  test::write_picture(folder_, "images/2.png", 9, 8);
  expect_error([&] { run(test::write_box_detector(models_), "coco"); },
               {"images/2.png", "9x8", "instances.json", "8x8"});
}

TEST_F(ValidateTest, APictureThatCannotBeReadIsNamed) {
  write_boxes();
  test::write_file(folder_, "images/2.png", "no picture");
  expect_error([&] { run(test::write_box_detector(models_), "coco"); }, {"images/2.png"});
}

TEST_F(ValidateTest, AMaskThatIsNotThePicturesSizeIsNamed) {
  write_maps();
  test::write_file(folder_, "masks/b.png", test::png_of(4, 4, 8, std::vector<std::uint16_t>(16)));
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/b.png", "4x4", "images/b.png", "8x8"});
}

TEST_F(ValidateTest, JudgesMapsOfClasses) {
  write_maps();
  const Validation found = run(test::write_color_mapper(models_), "masks");
  // 127 pixels count: 96 are red, and all are taken for red.
  EXPECT_NEAR(figure(found, "accuracy"), 96.0 / 127, 1e-9);
  EXPECT_NEAR(figure(found, "miou"), (96.0 / 127 + 0) / 2, 1e-9);
  EXPECT_EQ(found.models[0].scores[0].classes[1].name, "green");
}

TEST_F(ValidateTest, RefusesMasksThatAreNone) {
  write_maps();
  test::write_picture(folder_, "masks/b.png", 8, 8);
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/b.png", "colours"});
  test::write_file(folder_, "masks/b.png", test::png_of(8, 8, 8, std::vector<std::uint16_t>(64, 3)));
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/b.png", "class 3", "3 of them"});
  test::write_file(folder_, "masks/b.png", "no picture");
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/b.png", "no PNG"});
  std::filesystem::remove(folder_ / "masks/b.png");
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"images/b.png", "masks/b.png", "missing"});
  std::filesystem::remove(folder_ / "images/b.png");
  test::write_file(folder_, "masks/c.png", test::png_of(8, 8, 1, std::vector<std::uint16_t>(64, 1)));
  expect_error([&] { run(test::write_color_mapper(models_), "masks"); }, {"masks/c.png", "no picture"});
}

TEST_F(ValidateTest, JudgesDepthsInMetresAndWithoutAUnit) {
  test::write_picture(folder_, "images/a.png", 8, 8, {51, 51, 51});  // 0.2
  Tensor truth(DType::kFloat32, {8, 8});
  std::ranges::fill(truth.data<float>(), 0.26F);
  truth.data<float>()[0] = 0;  // not known
  std::filesystem::create_directory(folder_ / "depth");
  save_npy(folder_ / "depth/a.npy", truth);
  const Validation metric = run(test::write_brightness_depth(models_), "depth");
  EXPECT_NEAR(figure(metric, "abs_rel"), 0.06 / 0.26, 1e-4);
  EXPECT_NEAR(figure(metric, "rmse"), 0.06, 1e-4);
  EXPECT_EQ(figure(metric, "delta1"), 0);
  const Validation relative = run(test::write_brightness_depth(models_, "relative"), "depth");
  EXPECT_NEAR(figure(relative, "abs_rel"), 0, 1e-4);
  ASSERT_EQ(relative.models[0].notes.size(), 1U);
  EXPECT_NE(relative.models[0].notes[0].find("least squares"), std::string::npos);
}

TEST_F(ValidateTest, ReadsDepthsInMillimetres) {
  test::write_picture(folder_, "images/a.png", 8, 8, {51, 51, 51});
  test::write_file(folder_, "depth/a.png", test::png_of(8, 8, 16, std::vector<std::uint16_t>(64, 200)));
  EXPECT_NEAR(figure(run(test::write_brightness_depth(models_), "depth"), "delta1"), 1, 1e-9);
  test::write_file(folder_, "depth/a.png", test::png_of(8, 8, 8, std::vector<std::uint16_t>(64, 200)));
  expect_error([&] { run(test::write_brightness_depth(models_), "depth"); }, {"depth/a.png", "8 bits"});
  save_npy(folder_ / "depth/a.npy", Tensor(DType::kFloat32, {8, 9}));
  expect_error([&] { run(test::write_brightness_depth(models_), "depth"); }, {"depth/a.npy", "depth/a.png", "same"});
  std::filesystem::remove(folder_ / "depth/a.png");
  expect_error([&] { run(test::write_brightness_depth(models_), "depth"); }, {"depth/a.npy", "9x8"});
  save_npy(folder_ / "depth/a.npy", Tensor(DType::kInt32, {8, 8}));
  expect_error([&] { run(test::write_brightness_depth(models_), "depth"); }, {"depth/a.npy", "int32"});
}

TEST_F(ValidateTest, JudgesClassesOfPicturesNamedBySynsets) {
  test::write_picture(folder_, "n00000001_red.png", 8, 8, {255, 0, 0});
  test::write_picture(folder_, "n00000003_blue.png", 8, 8, {0, 200, 100});  // taken for green
  test::write_file(folder_, "synset.txt", "n00000001 red\nn00000002 green, verdant\nn00000003 blue\n");
  const Validation found = run(test::write_color_classifier(models_), "imagenet");
  EXPECT_EQ(figure(found, "top1"), 0.5);
  EXPECT_EQ(figure(found, "top5"), 1);
  EXPECT_EQ(found.models[0].scores[0].classes[1].name, "blue");
  test::write_file(folder_, "synset.txt", "n00000001 red\nn00000003 blue\n");
  expect_error([&] { run(test::write_color_classifier(models_), "imagenet"); }, {"color", "3 classes", "synset.txt"});
  test::write_file(folder_, "synset.txt", "n00000001 red\nn00000002 green\n");
  expect_error([&] { run(test::write_color_classifier(models_), "imagenet"); }, {"n00000003", "synset.txt"});
  test::write_file(folder_, "synset.txt", "n00000001 red\n\nred\n");
  expect_error([&] { run(test::write_color_classifier(models_), "imagenet"); }, {"synset.txt", "line 3", "red"});
  test::write_file(folder_, "synset.txt", "\n");
  expect_error([&] { run(test::write_color_classifier(models_), "imagenet"); }, {"synset.txt", "no synsets"});
  std::filesystem::permissions(folder_ / "synset.txt", std::filesystem::perms::none);
  {
    const test::OrdinaryUser user;
    expect_error([&] { run(test::write_color_classifier(models_), "imagenet"); }, {"synset.txt", "can't be opened"});
  }
  std::filesystem::remove(folder_ / "synset.txt");
  expect_error([&] { run(test::write_color_classifier(models_), "imagenet"); }, {"synset.txt"});
}

TEST_F(ValidateTest, PicturesOfSynsetsThatAModelLacksAreLeftOut) {
  const std::string model = test::write_color_classifier(models_);
  std::string card = test::bytes_of_file(models_ / "color.toml");
  const std::string labels = R"(["red", "green", "blue"])";
  card.replace(card.find(labels), labels.size(), R"(["n00000001 red", "n00000002 green", "n00000003 blue"])");
  models_.write("color.toml", card);
  test::write_picture(folder_, "n00000001_red.png", 8, 8, {255, 0, 0});
  test::write_picture(folder_, "n00000004_violet.png", 8, 8, {200, 0, 250});
  test::write_file(folder_, "synset.txt", "n00000001 red\nn00000004 violet\n");
  const Validation found = run(model, "imagenet", model);
  EXPECT_EQ(figure(found, "top1"), 1);
  EXPECT_EQ(found.models[0].scores[0].classes.size(), 1U);
  ASSERT_EQ(found.models[0].notes.size(), 1U);
  EXPECT_NE(found.models[0].notes[0].find("1 of the 2 pictures"), std::string::npos) << found.models[0].notes[0];
  EXPECT_TRUE(found.against->holds());
  EXPECT_LT(found.against->differences[0].sets.resamples, options_.resample.resamples);
  std::filesystem::remove(folder_ / "n00000001_red.png");
  expect_error([&] { run(model, "imagenet"); }, {"color", "synset.txt", "none of the pictures"});
}

TEST_F(ValidateTest, JudgesClassesOfPicturesInFoldersOfSynsets) {
  test::write_picture(folder_, "val/n00000001/x.png", 8, 8, {255, 0, 0});
  test::write_picture(folder_, "val/n00000005/x.png", 8, 8, {0, 255, 0});
  test::write_picture(folder_, "val/n00000005/y.png", 8, 8, {0, 255, 0});
  test::write_picture(folder_, "val/n00000009/x.png", 8, 8, {255, 0, 0});
  const Validation found = run(test::write_color_classifier(models_), "imagenet");
  EXPECT_EQ(figure(found, "top1"), 0.75);
  EXPECT_EQ(found.models[0].scores[0].classes.size(), 3U);
}

TEST_F(ValidateTest, AnEmptySetIsNamed) {
  for (const char* kind : {"imagenet", "masks", "depth", "coco"})
    expect_error([&] { run(test::write_color_classifier(models_), kind); }, {folder_.string()});
}

TEST_F(ValidateTest, JudgesWorsePicturesToo) {
  write_maps();
  options_.conditions = {"night", "low-contrast"};
  const Validation found = run(test::write_color_mapper(models_), "masks");
  ASSERT_EQ(found.conditions.size(), 2U);
  EXPECT_EQ(found.conditions[0].name, "night");
  EXPECT_EQ(found.conditions[1].scores[0][0].headline(), found.models[0].scores[0].headline());  // red stays red
  const std::string text = to_text(found);
  EXPECT_NE(text.find("as they are"), std::string::npos) << text;
  EXPECT_NE(text.find("a tenth of the light"), std::string::npos) << text;
}

TEST_F(ValidateTest, TheSameModelTwiceIsNotWorse) {
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
  EXPECT_NE(to_text(found).find("holds"), std::string::npos);
}

TEST_F(ValidateTest, AWorseModelFailsTheVerdict) {
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
  const std::string text = to_text(found);
  EXPECT_NE(text.find("FAILS"), std::string::npos) << text;
  EXPECT_NE(text.find("-100.00"), std::string::npos) << text;
  options_.tolerance = 100;
  EXPECT_TRUE(run(wrong, "coco", right).against->holds());
}

TEST_F(ValidateTest, ModelsThatKnowOtherCategoriesAreNotCompared) {
  write_boxes();
  const std::string both = test::write_box_detector(models_);
  const std::string one = test::write_box_detector(models_, "one");
  std::string card = test::bytes_of_file(models_ / "one.toml");
  card.replace(card.find("\"far\""), 5, "\"moon\"");
  models_.write("one.toml", card);
  const Validation found = run(both, "coco", one);
  EXPECT_TRUE(found.against->differences.empty());
  EXPECT_FALSE(found.against->holds());
  const std::string text = to_text(found);
  EXPECT_NE(text.find("not compared"), std::string::npos) << text;
  EXPECT_NE(text.find("FAILS: nothing of boxes and one"), std::string::npos) << text;
}

TEST_F(ValidateTest, TakesALimitSpreadOverTheSet) {
  write_boxes();
  options_.limit = 1;
  const Validation found = run(test::write_box_detector(models_), "coco");
  EXPECT_EQ(found.pictures, 1U);
  EXPECT_EQ(found.all_pictures, 2U);
  EXPECT_NE(to_text(found).find("1 of them judged"), std::string::npos);
}

TEST_F(ValidateTest, AnInterruptionLeavesWhatIsJudged) {
  write_boxes();
  int asked = 0;
  ValidateOptions options;
  options.data = "coco:" + folder_.string();
  options.model.file = test::write_box_detector(models_);
  options.conditions = {"night"};
  const Validation found =
      validate(options, {.progress = [](const std::string&, double) {}, .stop = [&] { return ++asked > 1; }});
  EXPECT_EQ(found.pictures, 1U);
  EXPECT_TRUE(found.is_interrupted);
  EXPECT_TRUE(found.conditions.empty());
}

TEST_F(ValidateTest, AnInterruptionBehindThePicturesIsSaid) {
  write_boxes();
  ValidateOptions options;
  options.data = "coco:" + folder_.string();
  options.model.file = test::write_box_detector(models_);
  // Asked before each of the two pictures, before the condition, and before each resampled set.
  const auto until = [&](int times) {
    int asked = 0;
    return validate(options, {.progress = [](const std::string&, double) {}, .stop = [&] { return ++asked > times; }});
  };
  options.conditions = {"night"};
  const Validation unspoilt = until(2);
  EXPECT_EQ(unspoilt.pictures, 2U);
  EXPECT_TRUE(unspoilt.conditions.empty());
  EXPECT_TRUE(unspoilt.is_interrupted);
  EXPECT_NE(to_text(unspoilt).find("interrupted"), std::string::npos) << to_text(unspoilt);
  options.conditions.clear();
  options.against = options.model;
  const Validation few = until(2 + 5);
  EXPECT_TRUE(few.is_interrupted);
  EXPECT_EQ(few.against->differences[0].sets.resamples, 5);
  const auto json = to_json(few)["against"]["differences"][0];
  EXPECT_TRUE(json["interval"].is_null()) << json;
  EXPECT_EQ(json["resamples"], 5);
  EXPECT_NE(to_text(few).find("5 resampled"), std::string::npos) << to_text(few);
  EXPECT_FALSE(until(2 + options.resample.resamples).is_interrupted);
}

}  // namespace
}  // namespace saccade
