#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/expect_error.hpp"
#include "media/frame_reader.hpp"
#include "support/second_models.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"
#include "validate/data.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::expect_error;
using test::Finished;
using test::run_saccade;

class ValidateCommand : public testing::Test {
 protected:
  /// A set of three images: two reds and a blue.
  std::string images() {
    const std::filesystem::path root(folder_ / "data");
    std::filesystem::create_directories(root);
    write("data/n00000001_a.png", {255, 0, 0});
    write("data/n00000001_b.png", {250, 10, 0});
    write("data/n00000003_c.png", {0, 10, 250});
    folder_.write("data/synset.txt", "n00000001 red\nn00000002 green\nn00000003 blue\n");
    return "imagenet:" + root.string();
  }

  void write(const std::string& name, std::array<std::uint8_t, 3> color) {
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < 64; ++i) pixels.insert(pixels.end(), color.begin(), color.end());
    write_image(folder_ / name, view_of(RgbView{pixels.data(), 24, 8, 8}));
  }

  /// Two images with the boxes that write_box_detector() sees.
  std::string boxes() {
    test::write_file(folder_, "data/instances.json", test::box_annotations());
    for (const char* name : {"data/1.png", "data/2.png"}) test::write_solid_image(folder_, name, 8, 8);
    return "coco:" + (folder_ / "data");
  }

  std::string model() { return test::write_color_classifier(folder_); }

  /// The same network that takes red for blue.
  std::string confused() {
    const std::string file = test::write_color_classifier(folder_, "confused");
    std::string card = test::bytes_of_file(folder_ / "confused.toml");
    card.replace(card.find("resize = "), 0, "color = \"bgr\"\n");
    folder_.write("confused.toml", card);
    return file;
  }

  test::TempFolder folder_;
};

TEST_F(ValidateCommand, ReportsTheMetricsOfAModel) {
  const Finished text = run_saccade({"validate", model(), "--data", images(), "--threads", "1"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("top-1"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("100.00"), std::string::npos) << text.out;
  EXPECT_EQ(text.err, "");
  const Finished finished = run_saccade({"validate", model(), "--data", images(), "--json", "--condition", "night,jpeg",
                                         "--max-frames", "2", "--threads", "1"});
  const json report = json::parse(finished.out);
  EXPECT_EQ(report.at("pictures"), 2);
  EXPECT_EQ(report.at("of_pictures"), 3);
  EXPECT_EQ(report.at("models").at(0).at("scores").at("class").at("top1"), 1);
  EXPECT_EQ(report.at("conditions").size(), 2U);
  EXPECT_EQ(report["conditions"][1].at("condition"), "jpeg");
  EXPECT_FALSE(report.contains("against"));
}

TEST_F(ValidateCommand, CountsImagesWithInvalidPredictions) {
  const std::string loud = test::write_color_classifier(folder_, "loud");
  std::string card = test::bytes_of_file(folder_ / "loud.toml");
  card.replace(card.find("scale = 0.0"), 11, "scale = 0.1");  // confidences up to 25
  folder_.write("loud.toml", card);
  const auto report = [&](const std::string& file) {
    return json::parse(
        run_saccade({"validate", file, "--data", images(), "--json", "--threads", "1"}).out)["models"][0];
  };
  EXPECT_EQ(report(loud).at("invalid"), 3);
  EXPECT_NE(report(loud).at("notes").dump().find("3 of the images are invalid"), std::string::npos);
  EXPECT_NE(report(loud).at("notes").dump().find("a confidence beyond 0..1"), std::string::npos);
  EXPECT_EQ(report(model()).at("invalid"), 0);
  EXPECT_EQ(report(model()).at("notes"), json::array());
}

TEST_F(ValidateCommand, ASecondModelIsNotRun) {
  test::write_color_classifier(folder_);
  const auto scores = [&](const std::string& file) {
    const Finished finished = run_saccade({"validate", file, "--data", boxes(), "--json", "--device", "cpu"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    const bool warns = finished.err.find("the second model of its card is not run") != std::string::npos;
    EXPECT_EQ(warns, file.ends_with("both.onnx")) << finished.err;
    return json::parse(finished.out)["models"][0]["scores"];
  };
  EXPECT_EQ(scores(test::write_first_model(folder_, "color.onnx", "", "both")),
            scores(test::write_box_detector(folder_, "one")));
}

TEST_F(ValidateCommand, AFailedVerdictIsExitCodeThree) {
  const auto against = [&](const std::string& ours, const std::string& theirs, const std::string& tolerance) {
    return run_saccade({"validate", ours, "--data", images(), "--against", theirs, "--tolerance", tolerance, "--json",
                        "--threads", "1"});
  };
  const Finished better = against(model(), confused(), "0.5");
  EXPECT_EQ(better.exit_code, 0) << better.err;
  const Finished worse = against(confused(), model(), "0.5");
  EXPECT_EQ(worse.exit_code, 3) << worse.err;
  const json verdict = json::parse(worse.out).at("against");
  EXPECT_EQ(verdict.at("holds"), false);
  EXPECT_NEAR(verdict.at("differences").at(0).at("points").get<double>(), -100, 1e-9);
  EXPECT_EQ(verdict.at("agreement").at("same_class").at("share"), 0);
  EXPECT_EQ(against(confused(), model(), "100").exit_code, 0);
}

TEST_F(ValidateCommand, TwoPrecisionsAreSideBySide) {
  const Finished finished =
      run_saccade({"validate", model(), "--data", images(), "--precision", "auto,fp32", "--json", "--threads", "1"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_EQ(report.at("models").size(), 2U);
  EXPECT_EQ(report["models"][1].at("model"), "color (fp32)");
  EXPECT_EQ(report.at("against").at("holds"), true);
}

TEST_F(ValidateCommand, InvalidFlagsAreRefused) {
  const auto run = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"validate", model(), "--data", images()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_saccade(arguments);
  };
  expect_error(run_saccade({"validate", model()}), 2, {"--data"});
  expect_error(run_saccade({"validate", "--data", images()}), 2, {"MODEL"});
  expect_error(run({"--condition", "fog"}), 2, {"--condition", "'fog'", "rain"});
  expect_error(run({"--precision", "int8"}), 2, {"--precision", "'int8' is not known"});
  expect_error(run({"--precision", "fp16"}), 1, {"'fp16' needs a GPU", "use auto, fp32 or bf16"});
  expect_error(run({"--precision", "fp32,int8"}), 2, {"'int8' is not known"});
  expect_error(run({"--precision", "fp32,fp32,auto"}), 2, {"3 precisions"});
  expect_error(run({"--precision", "fp32,auto", "--against", model()}), 2, {"--precision"});
  expect_error(run({"--against-card", "x.toml"}), 2, {"--against"});
  expect_error(run({"--tolerance", "-1"}), 2, {"--tolerance"});
  for (const char* tolerance : {"nan", "101"})
    expect_error(run({"--tolerance", tolerance}), 2, {"--tolerance", tolerance, "from 0 to 100"});
  expect_error(run({"--max-frames", "-3"}), 2, {"--max-frames"});
  expect_error(run({"--resamples", "1"}), 2, {"--resamples"});
}

TEST_F(ValidateCommand, InvalidDataIsNamed) {
  const std::string file = model();
  const auto on = [&](const std::string& data) { return run_saccade({"validate", file, "--data", data}); };
  expect_error(on("nonsense"), 2, {"--data", "'nonsense'", "imagenet:"});
  expect_error(on("voc:/tmp"), 2, {"--data", "'voc:/tmp'", "imagenet:"});
  expect_error(on("coco:/nowhere"), 1, {"/nowhere"});
  std::filesystem::create_directory(folder_ / "empty");
  for (const char* kind : {"coco:", "imagenet:", "masks:", "depth:"})
    expect_error(on(kind + (folder_ / "empty")), 1, {folder_ / "empty"});
  folder_.write("empty/instances.json", "{]");
  expect_error(on("coco:" + (folder_ / "empty")), 1, {"empty/instances.json", "not JSON"});
}

TEST_F(ValidateCommand, ResultsAreOfBoxesAlone) {
  // Said before anything is opened.
  for (const char* data : {"imagenet:/nowhere", "masks:/nowhere", "depth:/nowhere"})
    expect_error(run_saccade({"validate", model(), "--data", data, "--results", folder_ / "out.json"}), 2,
                 {"--results", data, "coco:"});
}

TEST_F(ValidateCommand, ResultsAreNotWrittenOverWhatIsRead) {
  const std::string data = boxes();
  for (const char* name : {"data/instances_masks.json", "data/person_keypoints.json"})
    test::write_file(folder_, name, test::box_annotations());
  const std::string file = test::write_box_detector(folder_);
  const std::string reference = test::write_box_detector(folder_, "reference");
  for (const char* name : {"ours.toml", "theirs.toml"})
    folder_.write(name, test::bytes_of_file(folder_ / "boxes.toml"));
  const auto spares = [&](const std::string& name, const std::vector<std::string>& flags) {
    SCOPED_TRACE(name);
    const std::string before = test::bytes_of_file(folder_ / name);
    std::vector<std::string> arguments = {"validate", file, "--data", data, "--results", folder_ / name};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    expect_error(run_saccade(arguments), 2, {name, "is an input"});
    EXPECT_EQ(test::bytes_of_file(folder_ / name), before);
  };
  for (const char* name :
       {"data/instances.json", "data/instances_masks.json", "data/person_keypoints.json", "boxes.onnx", "boxes.toml"})
    spares(name, {});
  spares("ours.toml", {"--card", folder_ / "ours.toml"});
  spares("reference.onnx", {"--against", reference});
  spares("reference.toml", {"--against", reference});
  spares("theirs.toml", {"--against", reference, "--against-card", folder_ / "theirs.toml"});
}

TEST_F(ValidateCommand, ResultsHaveStandardOutputForThemselves) {
  const std::vector<std::string> arguments = {
      "validate", test::write_box_detector(folder_), "--data", boxes(), "--results", "-", "--threads", "1"};
  const Finished finished = run_saccade(arguments);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json::parse(finished.out).size(), 4U);
  EXPECT_NE(finished.err.find("AP50"), std::string::npos) << finished.err;
  std::vector<std::string> with_report = arguments;
  with_report.emplace_back("--json");
  expect_error(run_saccade(with_report), 2, {"standard output", "--results -"});
}

TEST_F(ValidateCommand, AMissingModelOrReferenceIsNamed) {
  expect_error(run_saccade({"validate", "/nowhere.onnx", "--data", images()}), 1, {"/nowhere.onnx"});
  expect_error(run_saccade({"validate", model(), "--data", images(), "--against", "/nowhere.onnx"}), 1,
               {"/nowhere.onnx"});
}

}  // namespace
}  // namespace saccade
