// --track and what writes tracks, through the command line.
#include <map>
#include <set>

#include "apps/command_fixture.hpp"
#include "apps/expect_error.hpp"
#include "support/second_models.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class ObjectTracking : public test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    detector_ = test::write_box_detector(folder_);
  }
  /// Four frames of a source, in each of which the model finds "near" (0.9) and "far" (0.4).
  Finished run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", detector_});
    words.insert(words.end(),
                 {"--source", "synthetic:?size=64x48", "--max-frames", "4", "--device", "cpu", "--conf", "0.5"});
    return run_saccade(words);
  }
  std::vector<json> lines(std::vector<std::string> words) const {
    words.insert(words.end(), {"--jsonl", "-"});
    const Finished finished = run(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return test::lines_of(finished.out);
  }

  std::string detector_;
};

TEST_F(ObjectTracking, IdsArePrintedOnceATrackIsConfirmed) {
  const std::vector<json> found = lines({"--track", "bytetrack"});
  ASSERT_EQ(found.size(), 5U);
  EXPECT_FALSE(found[0]["detections"][0].contains("track_id"));
  for (std::size_t i = 1; i < 4; ++i) {
    ASSERT_EQ(found[i]["detections"].size(), 1U);  // "far" is below the threshold, and on no track
    EXPECT_EQ(found[i]["detections"][0]["track_id"], 1);
  }
}

TEST_F(ObjectTracking, WithoutATrackerThereAreNone) {
  for (const json& line : lines({}))
    if (line.contains("detections")) {
      EXPECT_FALSE(line["detections"][0].contains("track_id"));
    }
}

TEST_F(ObjectTracking, DetectionsBelowTheThresholdContinueTracks) {
  const std::vector<json> found = lines({"--track", "bytetrack:confirm=1,high=0.3,start=0.3"});
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(found[i]["detections"].size(), 2U);
    EXPECT_EQ(found[i]["detections"][1]["track_id"], 2);
    EXPECT_NEAR(found[i]["detections"][1]["confidence"].get<double>(), 0.4, 1e-3);
  }
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(lines({"--track", "bytetrack:low=0.5,confirm=1,high=0.3,start=0.3"})[i]["detections"].size(), 1U);
}

TEST_F(ObjectTracking, StreamsAreTrackedOnTheirOwn) {
  const std::vector<json> found = lines({"--track", "sort:confirm=1", "--source", "synthetic:?size=64x48&seed=2"});
  ASSERT_EQ(found.size(), 9U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(found[i]["detections"][0]["track_id"], 1);
}

/// Objects that move, in two streams whose frames are processed together.
TEST_F(ObjectTracking, IdsAreTheSameWhateverTheBatch) {
  const auto tracks = [](const char* batch) {
    const Finished finished =
        run_saccade({"run", SACCADE_SOURCE "/models/scene_model.onnx", "--device", "cpu", "--source",
                     "synthetic:?size=320x240&seed=3", "synthetic:?size=320x240&seed=8", "--max-frames", "20",
                     "--track", "bytetrack", "--batch", batch, "--jsonl", "-", "--no-summary", "--quiet"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::map<std::string, std::set<std::int64_t>> ids;
    for (const json& line : test::lines_of(finished.out))
      for (const json& object : line["detections"])
        if (object.contains("track_id"))
          ids[fmt::format("{} {}", line["stream"].get<int>(), line["frame"].get<int>())].insert(
              object["track_id"].get<std::int64_t>());
    return ids;
  };
  const auto one = tracks("1");
  EXPECT_GT(one.size(), 30U) << "frames with tracks";
  EXPECT_EQ(tracks("3"), one);
  EXPECT_EQ(tracks("8"), one);
}

TEST_F(ObjectTracking, TracksAreWrittenInMotChallengesFormat) {
  const Finished finished =
      run({"--track", "bytetrack", "--mot", folder_ / "tracks.txt", "--source", "synthetic:?size=64x48&seed=2"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  // The model's 8x8 pixels are stretched to 64x48.
  const std::string first = test::bytes_of_file(folder_ / "tracks.txt");
  EXPECT_EQ(first.substr(0, first.find('\n')), "2,1,8.00,12.00,32.00,24.00,0.9000,-1,-1,-1");
  EXPECT_EQ(std::ranges::count(first, '\n'), 3);
  EXPECT_EQ(test::bytes_of_file(folder_ / "tracks-1.txt"), first);
}

TEST_F(ObjectTracking, CsvAndYoloHaveTheIds) {
  const Finished finished =
      run({"--track", "sort:confirm=1", "--csv", folder_ / "out.csv", "--yolo", folder_ / "labels", "--yolo-conf"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::string csv = test::bytes_of_file(folder_ / "out.csv");
  EXPECT_NE(csv.find("invalid,track_id\n"), std::string::npos);
  EXPECT_EQ(csv.substr(csv.size() - 4), ",,1\n");
  const std::string labels = test::bytes_of_file(folder_ / "labels/0-000003.txt");
  EXPECT_EQ(labels.substr(labels.size() - 7), " 0.9 1\n") << labels;
}

TEST_F(ObjectTracking, WrongTrackersAreNamed) {
  test::expect_error(run({"--track", "deepsort"}), 2, {"--track", "deepsort", "bytetrack, ocsort or sort"});
  test::expect_error(run({"--track", "sort:age=3"}), 2, {"--track", "'age'", "keep"});
  test::expect_error(run({"--mot", folder_ / "tracks.txt"}), 2, {"--mot", "--track"});
  test::expect_error(run({"--track", "sort", "--mot", folder_ / "tracks.txt", "--rotate", "1M"}), 2,
                     {"--rotate", "--mot"});
  const std::string classifier = test::write_color_classifier(folder_);
  test::expect_error(run_saccade({"run", classifier, "--source", "synthetic:?size=64x48", "--max-frames", "1",
                                  "--device", "cpu", "--track", "sort"}),
                     1, {"--track", "color finds no objects to track"});
}

TEST_F(ObjectTracking, BesideAModelWithoutObjects) {
  const std::string classifier = test::write_color_classifier(folder_);
  const std::vector<json> found = lines({classifier, "--track", "sort:confirm=1"});
  ASSERT_EQ(found.size(), 9U);
  EXPECT_EQ(found[0]["detections"][0]["track_id"], 1);
  EXPECT_TRUE(found[1].contains("classes"));
}

}  // namespace
}  // namespace saccade
