#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "validate/data/mot_files.hpp"
#include "validate/fixture.hpp"
#include "validate/report.hpp"

namespace saccade {
namespace {

using test::expect_error;
using test::figure;

// write_box_detector() finds "near" at 1,2 to 5,6 and "far" at 0,0 to 2,2 in every image.
constexpr const char* kNear = ",1,2,4,4,";

class MotTest : public test::ValidateFixture {
 protected:
  MotTest() { options_.model.options.post.tracker = tracker_options("sort:confirm=1"); }

  /// Four images, and TRUTH as gt.txt.
  void write_sequence(const std::string& name, const std::string& truth, const std::string& labels = "near\nfar\n") {
    for (int i = 1; i <= 4; ++i)
      test::write_solid_image(folder_, name + "img1/00000" + std::to_string(i) + ".png", 8, 8);
    test::write_file(folder_, name + "gt/gt.txt", truth);
    if (!labels.empty()) test::write_file(folder_, name + "gt/labels.txt", labels);
    test::write_file(folder_, name + "seqinfo.ini", "[Sequence]\nframeRate=25\n");
  }
  /// The object at BOX (",x,y,w,h,") of a class in all frames.
  static std::string in_all_frames(int id, const std::string& box, int counts, int class_number, int first = 1) {
    std::string lines;
    for (int frame = first; frame <= 4; ++frame)
      lines += std::to_string(frame) + "," + std::to_string(id) + box + std::to_string(counts) + "," +
               std::to_string(class_number) + ",1\n";
    return lines;
  }
  Validation run_mot() { return run(test::write_box_detector(models_), "mot"); }
};

TEST_F(MotTest, PerfectTracksHaveFullScores) {
  write_sequence("", in_all_frames(7, kNear, 1, 1) + in_all_frames(9, ",0,0,2,2,", 1, 2));
  const Validation found = run_mot();
  EXPECT_NEAR(figure(found, "hota"), 1, 1e-9);
  EXPECT_NEAR(figure(found, "idf1"), 1, 1e-9);
  EXPECT_NEAR(figure(found, "mota"), 1, 1e-9);
  EXPECT_EQ(figure(found, "switches"), 0);
  const Score& score = found.models[0].scores[0];
  ASSERT_EQ(score.classes.size(), 2U);
  EXPECT_EQ(score.classes[0].name, "near");
  EXPECT_EQ(score.classes[0].count, 1);
  EXPECT_EQ(found.contents, "8 objects in 1 sequence");
  EXPECT_TRUE(found.models[0].notes.empty());
}

TEST_F(MotTest, OneTrackOfTwoIdentitiesCostsIdf1) {
  write_sequence("", in_all_frames(9, ",0,0,2,2,", 1, 2) + in_all_frames(8, kNear, 1, 1, 3) + "1,7" + kNear +
                         "1,1,1\n2,7" + kNear + "1,1,1\n");
  const Validation found = run_mot();
  EXPECT_EQ(figure(found, "switches"), 0);
  EXPECT_NEAR(figure(found, "mota"), 1, 1e-9);
  EXPECT_NEAR(figure(found, "idf1"), 0.75, 1e-9);
}

TEST_F(MotTest, SequencesHaveTracksOfTheirOwn) {
  // A track that went on from the first sequence would be one identity for two objects.
  options_.model.options.post.tracker = tracker_options("sort:confirm=1,keep=100");
  for (const char* name : {"a/", "b/"})
    write_sequence(name, in_all_frames(7, kNear, 1, 1) + in_all_frames(9, ",0,0,2,2,", 1, 2));
  const Validation found = run_mot();
  EXPECT_EQ(found.images, 8U);
  EXPECT_NEAR(figure(found, "hota"), 1, 1e-9);
  EXPECT_EQ(found.models[0].scores[0].classes[0].count, 2);
}

TEST_F(MotTest, ObjectsThatDoNotCountAreIgnored) {
  write_sequence("", in_all_frames(7, kNear, 1, 1) + in_all_frames(9, ",0,0,2,2,", 0, 2));
  EXPECT_NEAR(figure(run_mot(), "mota"), 1, 1e-9);
  // What covers none of them is a false positive.
  write_sequence("", in_all_frames(7, kNear, 1, 1));
  EXPECT_NEAR(figure(run_mot(), "mota"), 0, 1e-9);
}

TEST_F(MotTest, MotChallengesOwnClassesHaveDistractors) {
  models_.write("boxes.toml", "");
  const std::string model = test::write_box_detector(models_);
  std::string card = test::bytes_of_file(models_ / "boxes.toml");
  const std::size_t at = card.find("\"near\", \"far\"");
  ASSERT_NE(at, std::string::npos) << card;
  models_.write("boxes.toml", card.replace(at, 13, "\"person\", \"far\""));
  // Class 7 is a static person, whose predictions are removed; class 3 a car, whose are not.
  write_sequence("", in_all_frames(7, ",5,5,2,2,", 1, 1) + in_all_frames(8, kNear, 0, 7), "");
  Validation found = run(model, "mot");
  EXPECT_NEAR(figure(found, "mota"), 0, 1e-9);
  write_sequence("", in_all_frames(7, ",5,5,2,2,", 1, 1) + in_all_frames(8, kNear, 0, 3), "");
  found = run(model, "mot");
  EXPECT_NEAR(figure(found, "mota"), -1, 1e-9);
  EXPECT_NE(to_text(found).str().find("-100.00"), std::string::npos) << to_text(found).str();
  EXPECT_NEAR(to_json(found)["models"][0]["scores"]["tracks"]["mota"].get<double>(), -1, 1e-9);
}

TEST_F(MotTest, AMissingFrameRateIsNoted) {
  write_sequence("", in_all_frames(7, kNear, 1, 1) + in_all_frames(9, ",0,0,2,2,", 1, 2));
  std::filesystem::remove(folder_ / "seqinfo.ini");
  const Validation found = run_mot();
  ASSERT_EQ(found.models[0].notes.size(), 1U);
  EXPECT_NE(found.models[0].notes[0].find("30 frames per second"), std::string::npos) << found.models[0].notes[0];
}

TEST_F(MotTest, TheFirstFramesAreTaken) {
  options_.limit = 2;
  write_sequence("", in_all_frames(7, kNear, 1, 1) + in_all_frames(9, ",0,0,2,2,", 1, 2));
  const Validation found = run_mot();
  EXPECT_EQ(found.images, 2U);
  EXPECT_NEAR(figure(found, "hota"), 1, 1e-9);
  EXPECT_NE(to_text(found).str().find("the first ones"), std::string::npos);
}

TEST_F(MotTest, WhatIsWrongIsNamed) {
  const std::string model = test::write_box_detector(models_);
  const auto refused = [&](const std::string& truth, const std::vector<std::string>& parts) {
    write_sequence("", truth);
    expect_error([&] { read_mot(folder_.string()); }, parts);
  };
  refused("1,7,1,2\n", {"gt.txt', line 1", "4 numbers"});
  refused("1,7,1,2,4,4\n1,7,1,2,4,4\n", {"line 2", "ID 7 is twice in frame 1"});
  refused("0,7,1,2,4,4\n", {"frame 0"});
  refused("9,7,1,2,4,4\n", {"frame 9", "4 images"});
  refused("1,7,1,2,0,4\n", {"a box of 0 by 4"});
  refused("1,x,1,2,4,4\n", {"'x' is not a number"});
  refused("1,7,1,2,nan,4\n", {"'nan' is not a number"});
  refused("1,7,1,2,4,4,1,3,1\n", {"class 3", "labels.txt has 2"});
  refused("1,1.5,1,2,4,4\n", {"the ID 1.5"});
  write_sequence("", in_all_frames(7, kNear, 1, 1), "moon\n");
  expect_error([&] { run(model, "mot"); }, {"near", "moon"});
  expect_error([&] { run(model, "mot", model); }, {"can't be compared"});
  expect_error([&] { run(model, "coco"); }, {"has no tracks", "mot:"});
  expect_error([&] { run(test::write_color_classifier(models_), "mot"); }, {"finds no objects to track"});
  std::filesystem::remove_all(folder_ / "gt");
  expect_error([&] { run(model, "mot"); }, {"has no gt/gt.txt"});
}

}  // namespace
}  // namespace saccade
