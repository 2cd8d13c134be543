#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/frames.hpp"
#include "support/subprocess.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::run_saccade;

// A seed that is not in the bundled model's training data.
constexpr const char* kShortScene = "synthetic:?seed=7&frames=40";

TEST(Demo, FindsTheObjectsOfASeedThatItHasNotSeen) {
  const test::TempFolder folder;
  const std::string output = folder / "demo";
  const auto finished = run_saccade(
      {"demo", "--source", kShortScene, "--duration", "10000", "--output", output, "--json", "--threads", "1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_GT(report.at("ap50"), 0.9);
  EXPECT_GT(report.at("ap"), 0.6);
  EXPECT_LT(report.at("ap"), report.at("ap50"));
  EXPECT_GT(report.at("mask_ap50"), 0.9);
  EXPECT_GT(report.at("mask_ap"), 0.6);
  EXPECT_LT(report.at("depth_abs_rel"), 0.15);
  EXPECT_GT(report.at("depth_delta1"), 0.9);
  EXPECT_EQ(report.at("place_top1"), 1);
  EXPECT_EQ(report.at("frames"), 40);
  EXPECT_GT(report.at("fps"), 0);
  EXPECT_EQ(report.at("latency_ms").at("count"), 40);
  EXPECT_GT(report["latency_ms"].at("p50"), 0);
  EXPECT_EQ(report.at("classes").size(), 8U);
  for (const json& each : report["classes"]) EXPECT_EQ(each.contains("mask_ap"), true) << each;
  for (const char* stage : {"capture", "pre", "model", "post"}) {
    const auto found = std::ranges::find(report.at("stages"), stage, [](const json& each) { return each.at("name"); });
    ASSERT_NE(found, report["stages"].end()) << stage;
    EXPECT_GT(found->at("bound_ms"), 0) << stage;
    EXPECT_LT(found->at("headroom"), 1) << stage;
  }

  std::vector<std::string> conditions;
  for (const json& condition : report.at("conditions")) {
    conditions.push_back(condition.at("condition"));
    EXPECT_EQ(condition.at("frames"), 80);
    EXPECT_GT(condition.at("ap50"), 0.9) << conditions.back();
    EXPECT_GT(condition.at("mask_ap50"), 0.85) << conditions.back();
    EXPECT_LT(condition.at("depth_abs_rel"), 0.2) << conditions.back();
    EXPECT_GT(condition.at("place_top1"), 0.9) << conditions.back();
  }
  EXPECT_EQ(conditions, (std::vector<std::string>{"clear", "night", "blur", "night and blur"}));

  EXPECT_GT(std::filesystem::file_size(output + "/video.mp4"), 10'000U);
  std::istringstream lines(test::bytes_of_file(output + "/results.jsonl"));
  int results = 0;
  for (std::string line; std::getline(lines, line);) {
    const json object = json::parse(line);
    if (object.contains("event")) continue;
    ++results;
    for (const json& found : object.at("detections")) EXPECT_GE(found.at("confidence"), 0.4);
  }
  EXPECT_EQ(results, 40);

  const std::string page = test::bytes_of_file(output + "/report.html");
  for (const char* part : {"Sample frames", "Accuracy", "Latency", "Roofline", "data:image/jpeg;base64,"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

TEST(Demo, PredictionsAreDeterministic) {
  const test::TempFolder folder;
  json reports[2];
  for (json& report : reports) {
    const auto finished = run_saccade({"demo", "--source", kShortScene, "--max-frames", "12", "--duration", "10000",
                                       "--condition-frames", "4", "--output", folder / "demo", "--json"});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    report = json::parse(finished.out);
    EXPECT_EQ(report.at("frames"), 12);
  }
  for (const char* field : {"ap50", "ap", "mask_ap", "depth_abs_rel", "place_top1", "classes", "conditions"})
    EXPECT_EQ(reports[0][field], reports[1][field]);
}

TEST(Demo, SaysWhatItFound) {
  const test::TempFolder folder;
  const auto finished = run_saccade({"demo", "--source", kShortScene, "--max-frames", "5", "--duration", "10000",
                                     "--condition-frames", "2", "--output", folder / "demo"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const char* part : {"rate ", "boxes: AP50", "masks: AP50", "depth: AbsRel", "scene class: top-1", "bound",
                           "headroom", "bottleneck", "night and blur", "report.html"})
    EXPECT_NE(finished.out.find(part), std::string::npos) << part << " in\n" << finished.out;
}

TEST(Demo, RefusesWhatItCannotDo) {
  const test::TempFolder folder;
  const std::string file = folder / "file";
  std::ofstream(file) << "no folder";
  EXPECT_EQ(run_saccade({"demo", "--output", file}).exit_code, 1);
  EXPECT_EQ(run_saccade({"demo", "--source", "video.mp4", "--output", folder / "demo"}).exit_code, 1);
  EXPECT_EQ(run_saccade({"demo", "--model", folder / "none.onnx", "--output", folder / "demo"}).exit_code, 1);
  EXPECT_EQ(run_saccade({"demo", "--duration", "0", "--output", folder / "demo"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"demo", "--render", "3", "--max-frames", "3", "--output", folder / "demo"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"demo", "--format", "jpg", "--output", folder / "demo"}).exit_code, 2);
}

}  // namespace
}  // namespace saccade
