#include "rotation_flags.hpp"

#include "apps/command_fixture.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::hours;
using std::chrono::seconds;
using test::Finished;
using test::run_saccade;

class RotationCommand : public test::CommandTest {
 protected:
  std::string file(const std::string& name, int number, const std::string& ending) const {
    return folder_ / fmt::format("{}-{:06}{}", name, number, ending);
  }
};

TEST(RotationFlags, ReadsSizesAndTimes) {
  const auto bytes = [](const char* text) { return app::parse_rotation(text).bytes; };
  const auto period = [](const char* text) { return app::parse_rotation(text).period; };
  EXPECT_EQ(bytes("2K"), 2048U);
  EXPECT_EQ(bytes("500M"), 500U << 20);
  EXPECT_EQ(bytes("1G"), 1U << 30);
  EXPECT_EQ(bytes("1h"), 0U);
  EXPECT_EQ(period("30s"), seconds(30));
  EXPECT_EQ(period("010m"), seconds(600));
  EXPECT_EQ(period("1h"), hours(1));
  EXPECT_EQ(period("3650d"), hours(24 * 3650));
  EXPECT_EQ(period("1G"), seconds(0));
  for (const char* wrong : {"", "1", "500", "0s", "0M", "h", "M", "-1h", "1.5h", "1h30m", "3651d", "1GB", "1 h", "1H",
                            "99999999999999999999s", "9999999999T"})
    EXPECT_THROW(app::parse_rotation(wrong), app::UsageError) << wrong;
}

TEST_F(RotationCommand, WritesNumberedFilesAndKeepsTheLatest) {
  const std::string model = test::write_box_detector(folder_);
  const std::vector<std::string> command = {
      "run",    model, "--source", video(12),           "--quiet", "--rotate",       "1K",
      "--keep", "2",   "--jsonl",  folder_ / "o.jsonl", "--csv",   folder_ / "o.csv"};
  folder_.write("o-000004.jsonl", "of an earlier run");
  const Finished finished = run_saccade(command);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_FALSE(fs::exists(folder_ / "o.jsonl"));
  EXPECT_EQ(test::bytes_of_file(file("o", 4, ".jsonl")), "of an earlier run");
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder_.string()))
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  std::ranges::sort(files);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_FALSE(fs::exists(file("o", 5, ".jsonl")));
  const std::vector<json> before = test::lines_of(test::bytes_of_file(files[1]));
  const std::vector<json> last = test::lines_of(test::bytes_of_file(files[2]));
  EXPECT_EQ(last.back()["event"], "summary");
  EXPECT_EQ(last.front()["frame"], before.back()["frame"].get<int>() + 1);
  EXPECT_EQ(last.back()["ledger"]["processed"], 12);
}

TEST_F(RotationCommand, RefusesWhatHasNoFileToRotate) {
  const std::string model = test::write_box_detector(folder_);
  const auto refused = [&](std::vector<std::string> flags, const std::string& part) {
    std::vector<std::string> command = {"run", model, "--source", images()};
    command.insert(command.end(), flags.begin(), flags.end());
    const Finished finished = run_saccade(command);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
  };
  refused({"--rotate", "1h"}, "--rotate: nothing rotates: name a file with --jsonl");
  refused({"--rotate", "1h", "--jsonl", "-"}, "nothing rotates");
  refused({"--rotate", "1h", "--jsonl", "/dev/null"}, "nothing rotates");
  refused({"--rotate", "1h", "--jsonl", folder_ / "o", "--frames", folder_ / "f"}, "--frames writes a file per frame");
  refused({"--rotate", "1h", "--yolo", folder_ / "y"}, "--yolo writes a file per frame");
  refused({"--keep", "3", "--jsonl", folder_ / "o"}, "--keep requires --rotate");
  refused({"--rotate", "1", "--jsonl", folder_ / "o"}, "'1' is not a size");
  EXPECT_FALSE(fs::exists(folder_ / "f"));
}

TEST_F(RotationCommand, SparesItsInputs) {
  const std::string model = test::write_box_detector(folder_);
  const std::string source = video(2);
  const std::string before = test::bytes_of_file(source);
  const Finished same = run_saccade({"run", model, "--source", source, "--video", source, "--rotate", "1h"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_NE(same.err.find("is an input"), std::string::npos) << same.err;
  const Finished twice = run_saccade(
      {"run", model, "--source", source, "--jsonl", folder_ / "o", "--csv", folder_ / "o", "--rotate", "1h"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find("two outputs"), std::string::npos) << twice.err;
  EXPECT_EQ(test::bytes_of_file(source), before);
}

}  // namespace
}  // namespace saccade
