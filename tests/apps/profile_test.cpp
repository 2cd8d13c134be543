#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "media/frame_reader.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class ProfileCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::uint8_t> pixels(3 * 32 * 16, 90);
    write_image(image_, view_of(RgbView{pixels.data(), 3 * 32, 32, 16}));
  }

  test::TempFolder folder_;
  std::string image_ = folder_ / "image.png";
};

TEST_F(ProfileCommand, WritesTheRequestedFiles) {
  const std::string model = test::write_box_detector(folder_);
  const Finished finished =
      run_saccade({"profile", model, "--source", image_, "--max-frames", "25", "--trace", folder_ / "trace.json",
                   "--html", folder_ / "page.html", "--jsonl", folder_ / "lines.jsonl", "--json", "--threads", "1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_EQ(report["model"], "boxes");
  EXPECT_EQ(report["source"], image_);
  EXPECT_EQ(report["frames"], 25);
  EXPECT_EQ(report["threads"], 1);
  const std::vector<std::string> names = {"capture", "queue", "pre", "model", "post", "total"};
  ASSERT_EQ(report["stages"].size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(report["stages"][i]["name"], names[i]);
    for (const char* figure : {"mean", "std", "p50", "p99", "max"})
      EXPECT_GE(report["stages"][i]["ms"][figure], 0) << names[i];
  }
  for (const json& launch : report["launches"]) {
    EXPECT_EQ(launch["ms"]["count"], 25);
    EXPECT_FALSE(launch["tactic"].get<std::string>().empty());
    EXPECT_GT(launch["bound_ms"], 0) << launch;
    EXPECT_LE(launch["headroom"], 1);
  }
  for (const char* gap : {"within", "waiting", "between"}) EXPECT_GE(report["gaps_ms"][gap]["mean"], 0);
  EXPECT_GT(report["overhead"]["ns_an_event"], 0);
  EXPECT_FALSE(report["bottleneck"]["sentence"].get<std::string>().empty());

  std::vector<std::int64_t> of_lines;
  std::istringstream lines(test::bytes_of_file(folder_ / "lines.jsonl"));
  for (std::string line; std::getline(lines, line);)
    if (const json object = json::parse(line); !object.contains("event")) of_lines.push_back(object["frame"]);
  std::vector<std::int64_t> of_trace;
  const json trace = json::parse(test::bytes_of_file(folder_ / "trace.json"));
  for (const json& event : trace["traceEvents"])
    if (event.value("cat", "") == "frame") of_trace.push_back(event["args"]["frame"]);
  EXPECT_EQ(of_lines.size(), 25U);
  EXPECT_EQ(of_trace, of_lines);
  EXPECT_TRUE(test::bytes_of_file(folder_ / "page.html").starts_with("<!DOCTYPE html>"));
}

TEST_F(ProfileCommand, GeneratesTensorsForAnUnrecognisedModel) {
  onnx_writer::Model model(13);
  model.input("x", {4, 4}).output("y");
  model.node({.op = "Relu", .inputs = {"x"}, .outputs = {"y"}});
  model.save(folder_ / "relu.onnx");
  const Finished finished = run_saccade({"profile", folder_ / "relu.onnx", "--duration", "0.05", "--top", "1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.out.find("source      random tensors\n"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("the 1 longest of 1 launches\n"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("\nprofiler    "), std::string::npos);
  EXPECT_NE(finished.out.find("\nbottleneck  "), std::string::npos);
  const Finished lines = run_saccade({"profile", folder_ / "relu.onnx", "--jsonl", folder_ / "lines.jsonl"});
  EXPECT_EQ(lines.exit_code, 1);
  EXPECT_NE(lines.err.find("give a --card"), std::string::npos) << lines.err;
}

TEST_F(ProfileCommand, RefusesInvalidFlags) {
  const std::string model = test::write_box_detector(folder_);
  EXPECT_EQ(run_saccade({"profile"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"profile", model, "--max-frames", "0"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"profile", model, "--json", "--jsonl", "-"}).exit_code, 2);
  const Finished unwritable = run_saccade({"profile", model, "--source", image_, "--html", folder_ / "no/page.html"});
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_NE(unwritable.err.find("no/page.html"), std::string::npos);
  // Neither the model nor the source is overwritten.
  const Finished over = run_saccade({"profile", model, "--source", image_, "--trace", image_});
  EXPECT_EQ(over.exit_code, 2);
  EXPECT_NE(over.err.find("write the output elsewhere"), std::string::npos) << over.err;
  const Finished missing = run_saccade({"profile", model, "--source", folder_ / "none.mp4"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("none.mp4"), std::string::npos);
}

}  // namespace
}  // namespace saccade
