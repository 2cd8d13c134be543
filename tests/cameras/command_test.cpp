#include <nlohmann/json.hpp>
#include <sstream>

#include "cameras/vivid.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using test::Vivid;

TEST_F(Vivid, TheCommandListsCamerasByScore) {
  const test::TempFolder folder;
  const test::Finished listed = test::Subprocess({SACCADE_BINARY, "cameras", "--json"}).wait();
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  std::istringstream lines(listed.out);
  std::string line;
  for (const char* path : {kWebcam, kHdmi}) {
    ASSERT_TRUE(std::getline(lines, line));
    const auto camera = nlohmann::json::parse(line);
    EXPECT_EQ(camera["path"], path);
    EXPECT_FALSE(camera.contains("fault"));
    ASSERT_GT(camera["modes"].size(), 1U);
    for (std::size_t i = 1; i < camera["modes"].size(); ++i)
      EXPECT_GE(camera["modes"][i]["score"]["total"], camera["modes"][i - 1]["score"]["total"]);
  }
}

TEST_F(Vivid, TheCommandRunsModelsOnCamerasAndAccountsForEachFrame) {
  const test::TempFolder folder;
  const std::string model = test::write_box_detector(folder);
  const std::string out = folder / "out.jsonl";
  const test::Finished run = test::Subprocess({SACCADE_BINARY, "run", model, "--device", "cpu", "--source", kSmall,
                                               "/dev/video1?size=320x240&format=NV12", "--max-frames", "40", "--jsonl",
                                               out, "--quiet", "--json"})
                                 .wait();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto summary = nlohmann::json::parse(run.out);
  ASSERT_EQ(summary["streams"].size(), 2U);
  for (const auto& stream : summary["streams"]) {
    const auto& ledger = stream["ledger"];
    EXPECT_GE(ledger["captured"], 40);
    EXPECT_GT(ledger["processed"], 0);
    EXPECT_EQ(ledger["unaccounted"], 0);
    EXPECT_TRUE(stream["latency_ms"]["sensor"].is_object());
  }
  std::ifstream lines(out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_GT(nlohmann::json::parse(line)["timestamp_ns"], 0);
}

TEST_F(Vivid, WrongOptionsOfACameraNameWhatThereIs) {
  const test::TempFolder folder;
  const std::string model = test::write_box_detector(folder);
  const auto error_of = [&](const std::string& source) {
    const test::Finished run =
        test::Subprocess({SACCADE_BINARY, "run", model, "--device", "cpu", "--source", source, "--no-save"}).wait();
    EXPECT_EQ(run.exit_code, 1) << source;
    return run.err;
  };
  EXPECT_NE(error_of("0?size=1x1").find("has no mode size=1x1; it has 320x180"), std::string::npos);
  EXPECT_NE(error_of("0?brightness=999").find("brightness must be from 0 to 255"), std::string::npos);
  EXPECT_NE(error_of("0?bright=9").find("its controls are brightness, contrast"), std::string::npos);
  EXPECT_NE(error_of("/dev/video7").find("the cameras are /dev/video0 (vivid), /dev/video1 (vivid)"),
            std::string::npos);
}

}  // namespace
}  // namespace saccade
