#include <gtest/gtest.h>

#include <filesystem>

#include "apps/command_fixture.hpp"
#include "apps/expect_error.hpp"

// saccade run --goals
namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;

class GoalsFlag : public test::CommandTest {
 protected:
  Finished run(const std::string& model, const std::string& goals, const std::vector<std::string>& more = {}) {
    folder_.write("goals.toml", goals);
    std::vector<std::string> line = {
        "run", model, "--source", images(), "--quiet", "--goals", folder_ / "goals.toml", "--no-save", "--json"};
    line.insert(line.end(), more.begin(), more.end());
    return test::run_saccade(line);
  }
  json verdict(const std::string& model, const std::string& goals) {
    const Finished finished = run(model, goals);
    const std::vector<json> lines = test::lines_of(finished.out);
    EXPECT_EQ(lines.size(), 2U) << finished.err;
    return lines.size() == 2 ? lines[1] : json();
  }
};

TEST_F(GoalsFlag, TheSizeOfAModelIsWithItsWeightsBesideIt) {
  folder_.write("weights.bin", std::string(100'000, '\0'));
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("scores");
  model.initializer(
      onnx_writer::external_tensor("weights", onnx_writer::kFloat, {3, 3}, {{"location", "weights.bin"}}));
  model.node({.op = "GlobalAveragePool", .inputs = {"image"}, .outputs = {"mean"}, .name = "pool"});
  model.node({.op = "Flatten", .inputs = {"mean"}, .outputs = {"flat"}, .name = "flatten"});
  model.node({.op = "MatMul", .inputs = {"flat", "weights"}, .outputs = {"scores"}, .name = "product"});
  model.save(folder_ / "large.onnx");
  test::write_color_card(folder_, "large");
  const json missed = verdict(folder_ / "large.onnx", "[model.large]\nsize = \"50 kB\"");
  EXPECT_EQ(missed["met"], false);
  EXPECT_EQ(missed["goals"][0]["measured"], 100'000 + std::filesystem::file_size(folder_ / "large.onnx"));
}

TEST_F(GoalsFlag, WhatToWorkOnIsNoStageWhereTimeIsNotWhatIsMissing) {
  const std::string model = test::write_box_detector(folder_);
  EXPECT_EQ(verdict(model, "memory = 1")["work_on"], "memory");
  EXPECT_EQ(verdict(model, "memory = 1\n[model.boxes]\nsize = 1")["work_on"], "model");
  folder_.write("images/9.png", "no image");
  EXPECT_EQ(verdict(model, "drops = 0")["work_on"], "source") << "a damaged frame";
  EXPECT_EQ(verdict(model, "drops = 0\nmemory = 1")["work_on"], "source");
}

TEST_F(GoalsFlag, AnAccuracyOfAnotherPrecisionIsRefused) {
  folder_.write("report.json",
                R"({"models": [{"file": "boxes.onnx", "precision": "fp32", "scores": {"box": {"ap": 0.5}}}]})");
  const std::string model = test::write_box_detector(folder_);
  const std::string goals = "[model.boxes]\naccuracy = 0.4\nreport = \"report.json\"";
  EXPECT_EQ(run(model, goals).exit_code, 0);
  test::expect_error(run(model, goals, {"--precision", "bf16"}), 1, {"report.json", "'boxes'", "fp32", "bf16"});
}

}  // namespace
}  // namespace saccade
