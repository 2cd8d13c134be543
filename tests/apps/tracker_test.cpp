// A tracker of one object, through the command line.
#include "apps/command_fixture.hpp"
#include "apps/expect_error.hpp"
#include "support/tiny_models.hpp"
#include "support/tracker_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class TrackerCommand : public test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    tracker_ = test::write_color_tracker(folder_);
    folder_.write("tracker.toml", "[track]\nsearch_factor = 4\n");
    detector_ = test::write_box_detector(folder_);
  }
  Finished run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--source", "synthetic:?size=64x48", "--max-frames", "2", "--device", "cpu"});
    return run_saccade(words);
  }

  std::string tracker_;
  std::string detector_;
};

TEST_F(TrackerCommand, RunFollowsTheTarget) {
  const Finished finished = run({"run", tracker_, "--target", "8,6,10,12", "--jsonl", "-"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = test::lines_of(finished.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["task"], "track");
  EXPECT_EQ(lines[0]["detections"][0]["box"], json({8, 6, 18, 18}));
  EXPECT_EQ(lines[0]["detections"][0]["class"], "object");
  EXPECT_EQ(lines[1]["detections"].size(), 1U);
}

TEST_F(TrackerCommand, RunFollowsItBesideADetector) {
  const Finished finished = run({"run", detector_, tracker_, "--target", "tracker:8,6,10,12", "--jsonl", "-"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = test::lines_of(finished.out);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0]["task"], "detect");
  EXPECT_EQ(lines[1]["task"], "track");
}

TEST_F(TrackerCommand, WrongTargetsAreNamed) {
  test::expect_error(run({"run", tracker_, "--target", "1,2,3"}), 2, {"--target", "'1,2,3' is not X,Y,WIDTH,HEIGHT"});
  test::expect_error(run({"run", tracker_, "--target", "8,6,0,9"}), 2, {"--target", "'0' is not an integer from 1"});
  test::expect_error(run({"run", tracker_, "--target", "other:8,6,9,9"}), 2, {"--target", "other", "tracker"});
  test::expect_error(run({"run", tracker_, "--target", "8,6,9,9", "--target", "1,1,2,2"}), 2,
                     {"--target", "given twice"});
  test::expect_error(run({"run", tracker_}), 1, {"tracker follows one object", "--target X,Y,W,H"});
  test::expect_error(run({"run", detector_, "--target", "8,6,9,9"}), 1, {"--target NAME:X,Y,W,H"});
  test::expect_error(run({"run", tracker_, "--target", "100,6,9,9"}), 1, {"outside of the frame of 64x48 pixels"});
}

TEST_F(TrackerCommand, ProfileMeasuresIt) {
  const Finished finished = run({"profile", tracker_, "--target", "8,6,10,12"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

}  // namespace
}  // namespace saccade
