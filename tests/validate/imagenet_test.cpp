#include <gtest/gtest.h>

#include "support/ordinary_user.hpp"
#include "validate/fixture.hpp"

namespace saccade {
namespace {

using test::expect_error;
using test::figure;
using Imagenet = test::ValidateFixture;

TEST_F(Imagenet, EvaluatesClassesOfImagesNamedBySynsets) {
  test::write_solid_image(folder_, "n00000001_red.png", 8, 8, {255, 0, 0});
  test::write_solid_image(folder_, "n00000003_blue.png", 8, 8, {0, 200, 100});  // classified as green
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

TEST_F(Imagenet, ImagesOfSynsetsThatAModelLacksAreIgnored) {
  const std::string model = test::write_color_classifier(models_);
  std::string card = test::bytes_of_file(models_ / "color.toml");
  const std::string labels = R"(["red", "green", "blue"])";
  card.replace(card.find(labels), labels.size(), R"(["n00000001 red", "n00000002 green", "n00000003 blue"])");
  models_.write("color.toml", card);
  test::write_solid_image(folder_, "n00000001_red.png", 8, 8, {255, 0, 0});
  test::write_solid_image(folder_, "n00000004_violet.png", 8, 8, {200, 0, 250});
  test::write_file(folder_, "synset.txt", "n00000001 red\nn00000004 violet\n");
  const Validation found = run(model, "imagenet", model);
  EXPECT_EQ(figure(found, "top1"), 1);
  EXPECT_EQ(found.models[0].scores[0].classes.size(), 1U);
  ASSERT_EQ(found.models[0].notes.size(), 1U);
  EXPECT_NE(found.models[0].notes[0].find("1 of the 2 images"), std::string::npos) << found.models[0].notes[0];
  EXPECT_TRUE(found.against->holds());
  EXPECT_LT(found.against->differences[0].sets.resamples, options_.resample.resamples);
  std::filesystem::remove(folder_ / "n00000001_red.png");
  expect_error([&] { run(model, "imagenet"); }, {"color", "synset.txt", "none of the images"});
}

TEST_F(Imagenet, EvaluatesClassesOfImagesInFoldersOfSynsets) {
  test::write_solid_image(folder_, "val/n00000001/x.png", 8, 8, {255, 0, 0});
  test::write_solid_image(folder_, "val/n00000005/x.png", 8, 8, {0, 255, 0});
  test::write_solid_image(folder_, "val/n00000005/y.png", 8, 8, {0, 255, 0});
  test::write_solid_image(folder_, "val/n00000009/x.png", 8, 8, {255, 0, 0});
  const Validation found = run(test::write_color_classifier(models_), "imagenet");
  EXPECT_EQ(figure(found, "top1"), 0.75);
  EXPECT_EQ(found.models[0].scores[0].classes.size(), 3U);
}

}  // namespace
}  // namespace saccade
