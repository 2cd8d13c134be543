#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "media/frame_reader.hpp"
#include "saccade/npy.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class Verbs : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "pictures");
    picture("pictures/7.png", 16, 8, 255, 0, 0);
    picture("pictures/12.png", 8, 16, 0, 0, 255);
  }

  void picture(const std::string& name, int width, int height, std::uint8_t r, std::uint8_t g, std::uint8_t b) {
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < width * height; ++i) pixels.insert(pixels.end(), {r, g, b});
    write_image(folder_ / name, view_of(RgbView{pixels.data(), 3 * width, width, height}));
  }

  std::string video(int frames) {
    const std::string path = folder_ / "video.mp4";
    const auto writer = open_video_writer(path, 25);
    std::vector<std::uint8_t> pixels(3 * 64 * 32, 90);
    for (int i = 0; i < frames; ++i) writer->write(view_of(RgbView{pixels.data(), 3 * 64, 64, 32}), i * 40'000'000LL);
    writer->close();
    return path;
  }

  std::string pictures() const { return folder_ / "pictures"; }

  test::TempFolder folder_;
};

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

/// A classifier with WEIGHT among its weights. Returns its path.
std::string write_weighted_classifier(const test::TempFolder& folder, float weight) {
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("scores");
  model.initializer(onnx_writer::tensor<float>("weights", {3, 3}, {1, 0, 0, 0, weight, 0, 0, 0, 1}));
  model.node({.op = "GlobalAveragePool", .inputs = {"image"}, .outputs = {"mean"}, .name = "pool"});
  model.node({.op = "Flatten", .inputs = {"mean"}, .outputs = {"flat"}, .name = "flatten"});
  model.node({.op = "MatMul", .inputs = {"flat", "weights"}, .outputs = {"scores"}, .name = "product"});
  model.save(folder / "weighted.onnx");
  test::write_color_card(folder, "weighted");
  return folder / "weighted.onnx";
}

TEST_F(Verbs, RunTellsThatDamagedWeightsMakeAnswersInvalid) {
  for (const auto& [weight, why] :
       {std::pair(NAN, "a NaN among the confidences"), {5.0F, "a confidence beyond 0..1"}}) {
    picture("pictures/1.png", 8, 8, 0, 255, 0);
    for (const char* device : {"cpu", "reference"}) {
      const Finished finished = run_saccade({"run", write_weighted_classifier(folder_, weight), "--source", pictures(),
                                             "--jsonl", "-", "--device", device});
      EXPECT_EQ(finished.exit_code, 0) << finished.err;
      const auto lines = lines_of(finished.out);
      ASSERT_EQ(lines.size(), 4U);
      EXPECT_EQ(lines[0].value("invalid", false), true) << finished.out;
      EXPECT_EQ(lines[0].at("classes").empty(), std::isnan(weight)) << finished.out;
      EXPECT_EQ(lines[3].at("invalid"), std::isnan(weight) ? 3 : 1);
      const auto warned = finished.err.find("warning: weighted, frame 0 (1.png): the predictions are invalid: ");
      ASSERT_NE(warned, std::string::npos) << finished.err;
      EXPECT_NE(finished.err.find(why), std::string::npos) << finished.err;
      EXPECT_EQ(finished.err.find("warning: ", warned + 1), std::string::npos) << "once: " << finished.err;
    }
  }
  const auto sound =
      lines_of(run_saccade({"run", write_weighted_classifier(folder_, 1), "--source", pictures(), "--jsonl", "-"}).out);
  for (std::size_t i = 0; i + 1 < sound.size(); ++i) EXPECT_FALSE(sound[i].contains("invalid"));
  EXPECT_EQ(sound.back().at("invalid"), 0);
}

TEST_F(Verbs, HelpAndVersionNeedNothing) {
  EXPECT_EQ(run_saccade({"--help"}).exit_code, 0);
  EXPECT_EQ(run_saccade({"--version"}).out, "saccade 0.1.0\n");
  for (const char* verb : {"run", "infer", "inspect", "profile"}) {
    const Finished finished = run_saccade({verb, "--help"});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_NE(finished.out.find("--disable-pass"), std::string::npos);
    EXPECT_EQ(finished.err, "");
  }
}

TEST_F(Verbs, RunWritesJsonLines) {
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", pictures(), "--jsonl", "-"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = lines_of(finished.out);
  ASSERT_EQ(lines.size(), 3U);
  // 12.png comes before 7.png: 8x16, resized to 8x8, so that boxes are scaled to twice the height.
  EXPECT_EQ(lines[0]["name"], "12.png");
  EXPECT_EQ(lines[0]["stream"], 0);
  EXPECT_EQ(lines[0]["frame"], 0);
  EXPECT_EQ(lines[0]["model"], "boxes");
  EXPECT_EQ(lines[0]["task"], "detect");
  EXPECT_EQ(lines[0]["width"], 8);
  EXPECT_EQ(lines[0]["height"], 16);
  EXPECT_EQ(lines[0]["detections"][0]["box"], json({1, 4, 5, 12}));
  EXPECT_EQ(lines[0]["detections"][0]["class"], "near");
  EXPECT_FLOAT_EQ(lines[0]["detections"][0]["confidence"].get<float>(), 0.9F);
  for (const char* stage : {"capture", "queue", "pre", "model", "post", "total"})
    EXPECT_GE(lines[0]["latency_ms"][stage], 0) << stage;
  EXPECT_EQ(lines[2]["event"], "summary");
  EXPECT_EQ(lines[2]["ledger"]["captured"], 2);
  EXPECT_EQ(lines[2]["ledger"]["processed"], 2);
  EXPECT_EQ(lines[2]["ledger"]["unaccounted"], 0);
  EXPECT_NE(finished.err.find("2 captured = 2 processed"), std::string::npos) << finished.err;
}

TEST_F(Verbs, RunClassifies) {
  const Finished finished =
      run_saccade({"run", test::write_color_classifier(folder_), "--source", pictures(), "--jsonl", "-"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = lines_of(finished.out);
  EXPECT_EQ(lines[0]["task"], "classify");
  EXPECT_EQ(lines[0]["classes"][0]["class"], "blue");
  EXPECT_EQ(lines[1]["classes"][0]["class"], "red");
  EXPECT_NEAR(lines[1]["classes"][0]["confidence"].get<double>(), 1, 1e-4);
}

TEST_F(Verbs, RunWritesCocoResultsByTheNumberInTheName) {
  const std::string out = folder_ / "out.json";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", pictures(), "--coco", out, "--conf", "0.5"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json results = json::parse(test::bytes_of_file(out));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["image_id"], 12);
  EXPECT_EQ(results[1]["image_id"], 7);
  EXPECT_EQ(results[1]["category_id"], 0);
  EXPECT_EQ(results[1]["bbox"], json({2, 2, 8, 4}));
  EXPECT_FLOAT_EQ(results[1]["score"].get<float>(), 0.9F);
}

TEST_F(Verbs, RunWritesAnEmptyCocoListWhereNothingIsFound) {
  const std::string out = folder_ / "out.json";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", pictures(), "--coco", out, "--conf", "0.95"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json::parse(test::bytes_of_file(out)), json::array());
}

TEST_F(Verbs, RunWritesCsv) {
  const std::string out = folder_ / "out.csv";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", pictures(), "--csv", out, "--conf", "0.5"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::string text = test::bytes_of_file(out);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_NE(text.find(",12.png,0,0,boxes,0,near,0.9,1,4,5,12,object,,"), std::string::npos) << text;
}

TEST_F(Verbs, RunWritesYoloLabels) {
  const std::string out = folder_ / "labels";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", pictures(), "--yolo", out, "--conf", "0.5"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  // 12.png is 8x16.
  EXPECT_EQ(test::bytes_of_file(out + "/12.txt"), "0 0.375 0.5 0.5 0.5\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 2);
  const Finished sure = run_saccade({"run", test::write_box_detector(folder_), "--source", pictures(), "--yolo", out,
                                     "--yolo-conf", "--conf", "0.5"});
  ASSERT_EQ(sure.exit_code, 0) << sure.err;
  EXPECT_EQ(test::bytes_of_file(out + "/12.txt"), "0 0.375 0.5 0.5 0.5 0.9\n");
}

TEST_F(Verbs, RunRefusesWhatItsSinksHaveNoUseFor) {
  const std::string model = test::write_box_detector(folder_);
  EXPECT_EQ(run_saccade({"run", model, "--source", pictures(), "--contours"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"run", model, "--source", pictures(), "--yolo-conf"}).exit_code, 2);
  const Finished classes = run_saccade(
      {"run", test::write_color_classifier(folder_), "--source", pictures(), "--coco", folder_ / "out.json"});
  EXPECT_EQ(classes.exit_code, 1);
  EXPECT_NE(classes.err.find("color's task is classify"), std::string::npos) << classes.err;
}

TEST_F(Verbs, RunDrawsAVideoOfAllFrames) {
  const std::string out = folder_ / "out.mp4";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), test::write_color_classifier(folder_), "--source",
                   video(12), "--video", out, "--frames", folder_ / "drawn"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto written = open_reader(out);
  EXPECT_EQ(written->info().width, 64);
  EXPECT_EQ(written->info().height, 32);
  const Finished again = run_saccade({"run", test::write_box_detector(folder_), "--source", out, "--json"});
  EXPECT_EQ(json::parse(again.out)["ledger"]["processed"], 12);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "drawn/0-000011.jpg"));
}

TEST_F(Verbs, RunReadsSeveralSourcesWithSeveralModels) {
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), test::write_color_classifier(folder_), "--source",
                   video(5), "--source", pictures(), "--jsonl", "-", "--max-frames", "3"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = lines_of(finished.out);
  EXPECT_EQ(lines.size(), 2U * (3 + 2) + 1);
  EXPECT_EQ(lines.back()["streams"][0]["ledger"]["processed"], 3);
  EXPECT_EQ(lines.back()["streams"][1]["ledger"]["processed"], 2);
}

TEST_F(Verbs, AnInterruptEndsARunInOrder) {
  const std::string out = folder_ / "out.json";
  test::Subprocess run({SACCADE_BINARY, "run", "--device", "cpu", test::write_box_detector(folder_), "--source",
                        video(3000), "--jsonl", "-", "--coco", out});
  while (run.out_so_far().find('\n') == std::string::npos) std::this_thread::yield();
  kill(run.pid(), SIGINT);
  const Finished finished = run.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const json summary = lines_of(finished.out).back();
  EXPECT_EQ(summary["event"], "summary");
  EXPECT_EQ(summary["ledger"]["unaccounted"], 0);
  EXPECT_LT(summary["ledger"]["processed"], 3000);
  EXPECT_FALSE(json::parse(test::bytes_of_file(out)).empty());
}

TEST_F(Verbs, InferWritesEveryOutput) {
  Tensor image(DType::kFloat32, {1, 3, 8, 8});
  std::ranges::fill(image.data<float>(), 0.5F);
  save_npy(folder_ / "x.npy", image);
  const std::string model = test::write_box_detector(folder_);
  const Finished finished =
      run_saccade({"infer", model, "--input", "image=" + (folder_ / "x.npy"), "--output-dir", folder_ / "a/b"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Tensor out = load_npy(folder_ / "a/b/detections.npy");
  EXPECT_EQ(out.shape(), (Shape{1, 2, 6}));
  EXPECT_EQ(out.data<float>()[4], 0.9F);
}

TEST_F(Verbs, InferDrawsInputsFromTheSeed) {
  const std::string model = test::write_color_classifier(folder_);
  const auto scores = [&](const std::string& seed) {
    EXPECT_EQ(run_saccade({"infer", model, "--output-dir", folder_ / seed, "--seed", seed}).exit_code, 0);
    return load_npy(folder_ / (seed + "/scores.npy")).data<float>()[0];
  };
  const float first = scores("1");
  EXPECT_EQ(scores("1"), first);
  EXPECT_NE(scores("2"), first);
  EXPECT_NEAR(first, 0.5, 0.2);
}

TEST_F(Verbs, InferSanitisesNames) {
  onnx_writer::Model model(13);
  model.input("x:0", {2}).output("a/b c:0");
  model.node({.op = "Neg", .inputs = {"x:0"}, .outputs = {"a/b c:0"}});
  model.save(folder_ / "neg.onnx");
  EXPECT_EQ(run_saccade({"infer", folder_ / "neg.onnx", "--output-dir", folder_ / "o"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "o/a_b_c_0.npy"));
}

TEST_F(Verbs, InferGivesTheSameWithoutPasses) {
  const std::string model = test::write_box_detector(folder_);
  for (const auto& extra : std::vector<std::vector<std::string>>{
           {"--passes", "none"}, {"--passes", "fold_constants"}, {"--disable-pass", "fold_constants"}}) {
    std::vector<std::string> arguments = {"infer", model, "--output-dir", folder_ / "o"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    ASSERT_EQ(run_saccade(arguments).exit_code, 0);
    EXPECT_EQ(load_npy(folder_ / "o/detections.npy").data<float>()[4], 0.9F);
  }
}

TEST_F(Verbs, InspectSaysWhatAModelIs) {
  const std::string model = test::write_box_detector(folder_);
  const Finished finished = run_saccade({"inspect", model, "--json", "--check"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_EQ(report["inputs"][0]["name"], "image");
  EXPECT_EQ(report["inputs"][0]["shape"], json({1, 3, 8, 8}));
  EXPECT_EQ(report["operators"]["Mul"], 1);
  EXPECT_GT(report["plan"]["arena_bytes"], 0);
  EXPECT_FALSE(report["passes"].empty());
  EXPECT_NE(report["card"]["toml"].get<std::string>().find("yolo-e2e"), std::string::npos);
  const Finished text = run_saccade({"inspect", model, "--dump", "--pipeline"});
  EXPECT_NE(text.out.find("==== as imported"), std::string::npos);
  EXPECT_NE(text.out.find("saccade.Preprocess"), std::string::npos);
}

TEST_F(Verbs, InspectWritesACardThatCanBeUsed) {
  const std::string model = test::write_box_detector(folder_);
  const std::string card = folder_ / "written.toml";
  const Finished finished = run_saccade({"inspect", model, "--write-card", card});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Finished used = run_saccade({"inspect", model, "--card", card, "--json"});
  ASSERT_EQ(used.exit_code, 0) << used.err;
  EXPECT_EQ(json::parse(used.out)["card"]["origin"], "card " + card);
  EXPECT_EQ(json::parse(used.out)["card"]["toml"],
            json::parse(run_saccade({"inspect", model, "--json"}).out)["card"]["toml"]);
  const Finished again = run_saccade({"inspect", model, "--write-card", card});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find(card + " already exists"), std::string::npos) << again.err;
  const Finished nowhere = run_saccade({"inspect", model, "--write-card", folder_ / "none/card.toml"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.err.find("can't write"), std::string::npos) << nowhere.err;
}

TEST_F(Verbs, InspectWritesNamesIntoACardThatCanNotSteerIt) {
  const std::string plain = test::write_box_detector(folder_);
  const std::string model = folder_ / "x\n[output]\nconf = 0.99 #\x1b.onnx";
  std::filesystem::rename(plain, model);
  std::filesystem::rename(folder_ / "boxes.toml", std::filesystem::path(model).replace_extension(".toml"));
  folder_.write("card.toml",
                "[input]\nresize = \"stretch\"\n[output]\ndecoder = \"yolo-e2e\"\nlabels = "
                "[\"near\\u007f\\u009b\\u202e\\\"\\\\\", \"far\"]\n");
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--card", folder_ / "card.toml"}}) {
    std::filesystem::remove(folder_ / "written.toml");
    std::vector<std::string> command{"inspect", model, "--write-card", folder_ / "written.toml"};
    command.insert(command.end(), options.begin(), options.end());
    ASSERT_EQ(run_saccade(command).exit_code, 0);
    const std::string card = test::bytes_of_file(folder_ / "written.toml");
    EXPECT_EQ(card.find("\nconf = 0.99"), std::string::npos) << card;
    for (const char* raw : {"\x1b", "\x7f", "\u009b", "\u202e"}) EXPECT_EQ(card.find(raw), std::string::npos) << card;
    const Finished used = run_saccade({"inspect", model, "--card", folder_ / "written.toml", "--json"});
    ASSERT_EQ(used.exit_code, 0) << used.err;
    const std::string toml = json::parse(used.out)["card"]["toml"];
    EXPECT_NE(card.find(toml.substr(toml.find("labels"))), std::string::npos);
  }
}

TEST_F(Verbs, InspectSaysWhatTheDeviceDoesNotRunAndWhy) {
  onnx_writer::Model strange(17);
  strange.input("x", {1, 2, 4, 4}).output("y");
  strange.initializer(onnx_writer::tensor<float>("w", {2, 2, 1, 1}, {1, 2, 3, 4}));
  strange.node({.op = "Conv", .inputs = {"x", "w"}, .outputs = {"a"}, .name = "first"});
  strange.node({.op = "Det", .inputs = {"a"}, .outputs = {"y"}, .name = "determinants"});
  strange.save(folder_ / "strange.onnx");

  const Finished finished = run_saccade({"inspect", folder_ / "strange.onnx", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json plan = json::parse(finished.out)["plan"];
  ASSERT_EQ(plan["fallbacks"].size(), 1U) << plan["fallbacks"];
  EXPECT_EQ(plan["fallbacks"][0]["operator"], "Det");
  EXPECT_EQ(plan["fallbacks"][0]["example"], "determinants");
  EXPECT_EQ(plan["fallbacks"][0]["reasons"], json::array());
  // The convolution's 32 floats: input or reordered input, and output.
  EXPECT_GE(plan["peak_activation_bytes"], 2 * 32 * 4);
  EXPECT_LE(plan["peak_activation_bytes"], plan["arena_bytes"]);
  const Finished text = run_saccade({"inspect", folder_ / "strange.onnx"});
  EXPECT_NE(text.out.find("not supported by cpu"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("no kernel for this operator"), std::string::npos) << text.out;
  const Finished reference = run_saccade({"inspect", folder_ / "strange.onnx", "--device", "reference"});
  EXPECT_EQ(reference.out.find("not supported by"), std::string::npos) << "it is what was asked for";
}

TEST_F(Verbs, InspectWritesTheGraphBeforeAndAfterThePasses) {
  const std::string model = test::write_box_detector(folder_);
  ASSERT_EQ(run_saccade({"inspect", model, "--graphviz", folder_ / "graphs"}).exit_code, 0);
  const std::string before = test::bytes_of_file(folder_ / "graphs/before.dot");
  const std::string after = test::bytes_of_file(folder_ / "graphs/after.dot");
  EXPECT_TRUE(before.starts_with("digraph \"")) << before;
  EXPECT_TRUE(after.ends_with("}\n")) << after;
  EXPECT_NE(before, after);
  EXPECT_EQ(run_saccade({"inspect", model, "--graphviz", model}).exit_code, 1) << "a file is no folder";
}

TEST_F(Verbs, InspectListsThePasses) {
  const Finished finished = run_saccade({"inspect", "--list-passes"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_NE(finished.out.find("fold_constants\n"), std::string::npos);
}

}  // namespace
}  // namespace saccade
