#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "media/frame_reader.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class Compile : public testing::Test {
 protected:
  void SetUp() override {
    const Finished compiled = run_saccade({"compile", test::write_color_classifier(folder_), "-o", plan(), "--json"});
    ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
    report_ = json::parse(compiled.out);
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < 64; ++i) pixels.insert(pixels.end(), {255, 0, 0});
    write_image(folder_ / "red.png", view_of(RgbView{pixels.data(), 24, 8, 8}));
  }

  // In a separate folder, without a card beside it.
  std::string plan() const {
    std::filesystem::create_directories(folder_ / "plans");
    return folder_ / "plans/color.plan";
  }

  test::TempFolder folder_;
  json report_;
};

/// Without a faster precision, or because its predictions agree on too few frames: what was chosen, and why.
TEST_F(Compile, ChoosesThePrecision) {
  EXPECT_NE(report_["precision"], "auto");
  EXPECT_NE(report_["precision_choice"]["why"], "");
  const Finished asked =
      run_saccade({"compile", folder_ / "color.onnx", "-o", plan(), "--precision", "fp32", "--json"});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_TRUE(json::parse(asked.out)["precision_choice"].is_null());
  const Finished missing = run_saccade({"compile", folder_ / "color.onnx", "-o", plan(), "--data", "coco:none"});
  EXPECT_EQ(missing.exit_code, 1) << missing.err;
  const Finished both =
      run_saccade({"compile", folder_ / "color.onnx", "-o", plan(), "--data", "coco:none", "--precision", "fp32"});
  EXPECT_EQ(both.exit_code, 2) << both.err;
}

TEST_F(Compile, WritesAPlanForFramesAndTensors) {
  EXPECT_GT(report_["bytes"].get<int>(), 100);
  EXPECT_EQ(report_["tuned"][0]["for"], "frames");
  EXPECT_EQ(report_["tuned"][1]["for"], "tensors");
  EXPECT_EQ(report_["tuned"][0]["candidates"], 0) << "the CPU has no clock for it";
}

TEST_F(Compile, CommandsTakeThePlanForTheModel) {
  const Finished run = run_saccade({"run", plan(), "--source", folder_ / "red.png", "--jsonl", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("\"class\":\"red\""), std::string::npos) << run.out;
  const Finished infer = run_saccade({"infer", plan(), "--output", folder_ / "out"});
  EXPECT_EQ(infer.exit_code, 0) << infer.err;
  EXPECT_NE(infer.out.find("scores: float32"), std::string::npos) << infer.out;
  const Finished inspect = run_saccade({"inspect", plan(), "--pipeline"});
  EXPECT_EQ(inspect.exit_code, 0) << inspect.err;
  EXPECT_NE(inspect.out.find("GlobalAveragePool"), std::string::npos) << inspect.out;
  const Finished bench = run_saccade({"bench", plan(), "--runs", "3", "--duration", "0", "--loads", "1"});
  EXPECT_EQ(bench.exit_code, 0) << bench.err;
  const Finished profile = run_saccade({"profile", plan(), "--max-frames", "3"});
  EXPECT_EQ(profile.exit_code, 0) << profile.err;
}

TEST_F(Compile, PlansFollowTheFlagsOfTheirUser) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 64; ++i)
    pixels.insert(pixels.end(), {std::uint8_t(i % 8 < 4 ? 255 : 0), 0, std::uint8_t(i % 8 < 4 ? 0 : 255)});
  write_image(folder_ / "two.png", view_of(RgbView{pixels.data(), 24, 8, 8}));
  const auto class_of = [&](const std::string& region) {
    const Finished run = run_saccade({"run", plan(), "--source", folder_ / "two.png", "--jsonl", "-", "--roi", region});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out.substr(0, run.out.find('\n')))["classes"][0]["class"];
  };
  EXPECT_EQ(class_of("0,0,4,8"), "red");
  EXPECT_EQ(class_of("4,0,4,8"), "blue");
}

TEST_F(Compile, IsRefusedForOtherSettingsThanItsOwn) {
  const auto error_of = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"infer", plan(), "--output", folder_ / "out"});
    const Finished finished = run_saccade(flags);
    EXPECT_EQ(finished.exit_code, 1);
    return finished.err;
  };
  EXPECT_NE(error_of({"--device", "reference"}).find("it was compiled for cpu, not for reference"), std::string::npos);
  const std::string chosen = report_["precision"];
  const std::string other = chosen == "bf16" ? "fp32" : "bf16";
  EXPECT_NE(error_of({"--precision", other}).find("compiled with the precision " + chosen + ", not " + other),
            std::string::npos);
  EXPECT_NE(error_of({"--shape", "image=1x3x9x9"}).find("the shapes of a plan are fixed"), std::string::npos);
}

TEST_F(Compile, DoesNotOverwriteItsModel) {
  const std::string model = folder_ / "color.onnx";
  const Finished compiled = run_saccade({"compile", model, "-o", model});
  EXPECT_EQ(compiled.exit_code, 2);
  EXPECT_NE(compiled.err.find("write the output elsewhere"), std::string::npos) << compiled.err;
}

}  // namespace
}  // namespace saccade
