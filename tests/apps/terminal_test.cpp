// What `run` prints and draws where no flag names an output.
#include "apps/command_fixture.hpp"
#include "apps/expect_error.hpp"
#include "plural.hpp"

namespace saccade::app {
namespace {

namespace fs = std::filesystem;
using test::Finished;
using test::run_saccade;

TEST(Plural, OfClassNames) {
  EXPECT_EQ(counted(1, "bus"), "1 bus");
  EXPECT_EQ(counted(4, "person"), "4 persons");
  EXPECT_EQ(counted(2, "7"), "2 of class 7");
  EXPECT_EQ(counted(1, "7"), "1 of class 7");
  const std::pair<const char*, const char*> names[] = {
      {"bus", "buses"},
      {"wine glass", "wine glasses"},
      {"sheep", "sheep"},
      {"knife", "knives"},
      {"scissors", "scissors"},
      {"skis", "skis"},
      {"bench", "benches"},
      {"toothbrush", "toothbrushes"},
      {"mouse", "mice"},
      {"teddy bear", "teddy bears"},
      {"cell phone", "cell phones"},
      {"tv", "tvs"},
      {"lorry", "lorries"},
      {"toy", "toys"},
      {"woman", "women"},
      {"human", "humans"},
      {"aircraft", "aircraft"},
      {"box", "boxes"},
      {"class 3", "class 3"},
      {"", ""},
      {"\xe4\xba\xba", "\xe4\xba\xba"},
  };
  for (const auto& [one, several] : names) EXPECT_EQ(plural_of(one), several);
}

class Terminal : public test::CommandTest {
 protected:
  /// `saccade run ARGUMENTS` in the test's folder.
  Finished run_here(const std::string& arguments) const {
    const std::string command =
        "cd " + folder_.string() + " && exec " + SACCADE_BINARY + " run --device cpu " + arguments;
    return test::Subprocess({"/bin/sh", "-c", command}).wait();
  }
  bool exists(const std::string& name) const { return fs::exists(folder_ / name); }
};

TEST_F(Terminal, ALinePerFrameGoesToStandardOutput) {
  const std::string run = test::write_box_detector(folder_) + " --no-save --source images";
  const Finished lines = run_here(run);
  ASSERT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_TRUE(lines.out.starts_with("12.png: 1 near, 1 far\n7.png: 1 near, 1 far\n")) << lines.out;
  EXPECT_EQ(lines.err, "");
  const Finished quiet = run_here(run + " --quiet");
  EXPECT_EQ(quiet.out.find("near"), std::string::npos) << quiet.out;
  EXPECT_NE(quiet.out.find("2 captured = 2 processed"), std::string::npos) << quiet.out;
}

TEST_F(Terminal, LinesGoToStandardErrorWhereJsonGoesToStandardOutput) {
  const std::string run = test::write_box_detector(folder_) + " --no-save --source images";
  for (const char* json : {" --json", " --jsonl -"}) {
    const Finished finished = run_here(run + json);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_NE(finished.err.find("7.png: 1 near, 1 far\n"), std::string::npos) << finished.err;
    EXPECT_FALSE(test::lines_of(finished.out).empty());
  }
}

TEST_F(Terminal, FramesAreDrawnIntoANewFolderPerRun) {
  const std::string run = test::write_box_detector(folder_) + " --quiet --source images " + video(3);
  for (const char* number : {"", "-2"}) {
    const Finished finished = run_here(run);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    const std::string line =
        std::string("drawn frames: saccade-run/images") + number + ", saccade-run/video" + number + "\n";
    EXPECT_NE(finished.out.find(line), std::string::npos) << finished.out;
    const std::string root = "saccade-run/";
    EXPECT_TRUE(exists(root + "images" + number + "/7.jpg"));
    EXPECT_TRUE(exists(root + "images" + number + "/12.jpg"));
    EXPECT_TRUE(exists(root + "video" + number + "/video.mp4"));
  }
}

TEST_F(Terminal, NothingIsDrawnIfAFlagNamesAnOutputOrTheSourceNeverEnds) {
  const std::string model = test::write_box_detector(folder_);
  for (const char* rest : {" --source images --no-save", " --source images --csv o.csv",
                           " --source 'synthetic:?size=64x48' --csv /dev/null --max-frames 2"}) {
    const Finished finished = run_here(model + rest);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_FALSE(exists("saccade-run")) << rest;
  }
  const Finished scene = run_here(model + " --source 'synthetic:?size=64x48' --max-frames 2");
  EXPECT_EQ(scene.exit_code, 0) << scene.err;
  EXPECT_TRUE(exists("saccade-run/synthetic/synthetic.mp4")) << scene.out;
}

TEST_F(Terminal, AFailedRunLeavesNoFolder) {
  const std::string model = test::write_box_detector(folder_);
  EXPECT_EQ(run_here(model + " --source images --classes unicorn").exit_code, 1);
  EXPECT_FALSE(exists("saccade-run"));
}

TEST_F(Terminal, SourcesArePatternsAndSeveralValues) {
  const std::string model = test::write_box_detector(folder_);
  video(2);
  for (const char* sources : {"'images/*.png' video.mp4", "images/12.png images/7.png video.mp4", "images video.mp4"}) {
    const Finished finished = run_here(model + " --no-save --jsonl - --source " + sources);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    const auto lines = test::lines_of(finished.out);
    ASSERT_EQ(lines.size(), 5U) << sources;
    EXPECT_EQ(lines.back()["streams"].size(), 2U) << sources;
  }
  test::expect_error(run_here(model + " --source 'images/*.gif'"), 1, {"images/*.gif", "matches no file"});
}

TEST_F(Terminal, TheSummaryOfAJsonLinesFileCanBeOmitted) {
  const Finished finished =
      run_here(test::write_box_detector(folder_) + " --source images --jsonl - --no-summary --quiet");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto lines = test::lines_of(finished.out);
  ASSERT_EQ(lines.size(), 2U);
  for (const auto& line : lines) EXPECT_FALSE(line.contains("event"));
}

TEST_F(Terminal, ThresholdsAndClassesOfOneModel) {
  const std::string models = test::write_box_detector(folder_) + " " + test::write_box_detector(folder_, "second");
  const auto counts = [&](const std::string& flags) {
    const Finished finished = run_here(models + " --source images/7.png --jsonl - --no-summary --quiet " + flags);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::vector<std::size_t> found;
    for (const auto& line : test::lines_of(finished.out)) found.push_back(line["detections"].size());
    return found;
  };
  using Counts = std::vector<std::size_t>;
  EXPECT_EQ(counts(""), (Counts{2, 2}));
  EXPECT_EQ(counts("--conf 0.5"), (Counts{1, 1}));
  EXPECT_EQ(counts("--conf second:0.5"), (Counts{2, 1}));
  EXPECT_EQ(counts("--conf 0.95 --conf second:0.3"), (Counts{0, 2}));
  EXPECT_EQ(counts("--classes boxes:far"), (Counts{1, 2}));
  test::expect_error(run_here(models + " --source images --conf third:0.5"), 2, {"--conf", "third", "boxes, second"});
  test::expect_error(run_here(models + " --source images --iou 0.5 --iou 0.6"), 2, {"--iou", "given twice"});
}

}  // namespace
}  // namespace saccade::app
