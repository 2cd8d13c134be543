#include <signal.h>

#include <cmath>
#include <thread>

#include "apps/command_fixture.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class RunCommand : public test::CommandTest {};

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

TEST_F(RunCommand, ReportsInvalidResultsOfDamagedWeights) {
  for (const auto& [weight, why] :
       {std::pair(NAN, "a NaN among the confidences"), {5.0F, "a confidence beyond 0..1"}}) {
    image("images/1.png", 8, 8, 0, 255, 0);
    for (const char* device : {"cpu", "reference"}) {
      const Finished finished = run_saccade({"run", write_weighted_classifier(folder_, weight), "--source", images(),
                                             "--jsonl", "-", "--device", device});
      EXPECT_EQ(finished.exit_code, 0) << finished.err;
      const auto lines = test::lines_of(finished.out);
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
  const Finished silent = run_saccade({"run", write_weighted_classifier(folder_, NAN), "--source", images(), "--jsonl",
                                       "-", "--quiet", "--log-level", "error"});
  EXPECT_EQ(silent.err.find("warning: "), std::string::npos) << silent.err;
  const auto sound = test::lines_of(
      run_saccade({"run", write_weighted_classifier(folder_, 1), "--source", images(), "--jsonl", "-"}).out);
  for (std::size_t i = 0; i + 1 < sound.size(); ++i) EXPECT_FALSE(sound[i].contains("invalid"));
  EXPECT_EQ(sound.back().at("invalid"), 0);
}

TEST_F(RunCommand, AVideoForAGpuThatIsNotThereIsRefused) {
  const Finished finished = run_saccade(
      {"run", test::write_box_detector(folder_), "--source", video(3), "--decode", "cuda", "--device", "cpu"});
  if (finished.exit_code == 0) GTEST_SKIP() << "there is a GPU with a decoder";
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(finished.err.find("can't be decoded by cuda:0"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("--decode auto leaves it to the CPU"), std::string::npos) << finished.err;
}

TEST_F(RunCommand, HelpAndVersionNeedNothing) {
  EXPECT_EQ(run_saccade({"--help"}).exit_code, 0);
  EXPECT_EQ(run_saccade({"--version"}).out, "saccade 0.1.0\n");
  for (const char* subcommand : {"run", "infer", "inspect", "profile"}) {
    const Finished finished = run_saccade({subcommand, "--help"});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_NE(finished.out.find("--disable-pass"), std::string::npos);
    EXPECT_EQ(finished.err, "");
  }
}

TEST_F(RunCommand, SaysOnceWhatItAssumes) {
  const std::string file = test::write_color_classifier(folder_);
  const auto run = [&] { return run_saccade({"run", file, "--source", images(), "--jsonl", folder_ / "o.jsonl"}).err; };
  EXPECT_EQ(run(), "");
  std::filesystem::remove(folder_ / "color.toml");
  const std::string said = run();
  EXPECT_NE(said.find("warning: " + file + ": assumed for lack of a card: "), std::string::npos) << said;
  for (const char* key : {"input.mean", "input.interpolation", "output.labels"})
    EXPECT_NE(said.find(key), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  // The file of another tool beside the model settles what it names.
  folder_.write("preprocessor_config.json", R"({"size": {"height": 8, "width": 8}, "resample": 2, "image_mean": 0.5,
    "image_std": 0.5})");
  EXPECT_EQ(run().find("input.mean"), std::string::npos);
  folder_.write("preprocessor_config.json", "{");
  EXPECT_NE(run().find("preprocessor_config.json is not JSON"), std::string::npos);
}

TEST_F(RunCommand, WritesJsonLines) {
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", images(), "--jsonl", "-"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = test::lines_of(finished.out);
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

TEST_F(RunCommand, Classifies) {
  const Finished finished =
      run_saccade({"run", test::write_color_classifier(folder_), "--source", images(), "--jsonl", "-"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = test::lines_of(finished.out);
  EXPECT_EQ(lines[0]["task"], "classify");
  EXPECT_EQ(lines[0]["classes"][0]["class"], "blue");
  EXPECT_EQ(lines[1]["classes"][0]["class"], "red");
  EXPECT_NEAR(lines[1]["classes"][0]["confidence"].get<double>(), 1, 1e-4);
}

TEST_F(RunCommand, WritesCocoResultsByTheNumberInTheName) {
  const std::string out = folder_ / "out.json";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", images(), "--coco", out, "--conf", "0.5"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json results = json::parse(test::bytes_of_file(out));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["image_id"], 12);
  EXPECT_EQ(results[1]["image_id"], 7);
  EXPECT_EQ(results[1]["category_id"], 0);
  EXPECT_EQ(results[1]["bbox"], json({2, 2, 8, 4}));
  EXPECT_FLOAT_EQ(results[1]["score"].get<float>(), 0.9F);
}

TEST_F(RunCommand, WritesAnEmptyCocoListWhereNothingIsFound) {
  const std::string out = folder_ / "out.json";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", images(), "--coco", out, "--conf", "0.95"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json::parse(test::bytes_of_file(out)), json::array());
}

TEST_F(RunCommand, WritesCsv) {
  const std::string out = folder_ / "out.csv";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", images(), "--csv", out, "--conf", "0.5"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::string text = test::bytes_of_file(out);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_NE(text.find(",12.png,0,0,boxes,0,near,0.9,1,4,5,12,object,,"), std::string::npos) << text;
}

TEST_F(RunCommand, WritesYoloLabels) {
  const std::string out = folder_ / "labels";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), "--source", images(), "--yolo", out, "--conf", "0.5"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  // 12.png is 8x16.
  EXPECT_EQ(test::bytes_of_file(out + "/12.txt"), "0 0.375 0.5 0.5 0.5\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 2);
  const Finished sure = run_saccade(
      {"run", test::write_box_detector(folder_), "--source", images(), "--yolo", out, "--yolo-conf", "--conf", "0.5"});
  ASSERT_EQ(sure.exit_code, 0) << sure.err;
  EXPECT_EQ(test::bytes_of_file(out + "/12.txt"), "0 0.375 0.5 0.5 0.5 0.9\n");
}

TEST_F(RunCommand, RefusesWhatItsSinksHaveNoUseFor) {
  const std::string model = test::write_box_detector(folder_);
  EXPECT_EQ(run_saccade({"run", model, "--source", images(), "--contours"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"run", model, "--source", images(), "--yolo-conf"}).exit_code, 2);
  const Finished classes =
      run_saccade({"run", test::write_color_classifier(folder_), "--source", images(), "--coco", folder_ / "out.json"});
  EXPECT_EQ(classes.exit_code, 1);
  EXPECT_NE(classes.err.find("color's task is classify"), std::string::npos) << classes.err;
}

TEST_F(RunCommand, DrawsAVideoOfAllFrames) {
  const std::string out = folder_ / "out.mp4";
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), test::write_color_classifier(folder_), "--source",
                   video(12), "--video", out, "--frames", folder_ / "drawn"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto written = open_reader(out);
  EXPECT_EQ(written->info().width, 64);
  EXPECT_EQ(written->info().height, 32);
  const Finished again =
      run_saccade({"run", test::write_box_detector(folder_), "--no-save", "--source", out, "--json"});
  EXPECT_EQ(json::parse(again.out)["ledger"]["processed"], 12);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "drawn/0-000011.jpg"));
}

TEST_F(RunCommand, ReadsSeveralSourcesWithSeveralModels) {
  const Finished finished =
      run_saccade({"run", test::write_box_detector(folder_), test::write_color_classifier(folder_), "--source",
                   video(5), "--source", images(), "--jsonl", "-", "--max-frames", "3"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = test::lines_of(finished.out);
  EXPECT_EQ(lines.size(), 2U * (3 + 2) + 1);
  EXPECT_EQ(lines.back()["streams"][0]["ledger"]["processed"], 3);
  EXPECT_EQ(lines.back()["streams"][1]["ledger"]["processed"], 2);
}

TEST_F(RunCommand, ComparesTheRunWithItsGoals) {
  const auto run = [&](const std::string& goals) {
    folder_.write("goals.toml", goals);
    return run_saccade({"run", test::write_box_detector(folder_), "--source", video(5), "--no-save", "--quiet",
                        "--goals", folder_ / "goals.toml", "--json"});
  };
  const Finished kept = run("latency_p99 = \"1000 s\"\ndrops = 0\nmemory = \"1 TB\"\n[model.boxes]\nsize = \"1 MB\"");
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  const json verdict = test::lines_of(kept.out).at(1);
  EXPECT_EQ(verdict["event"], "verdict");
  EXPECT_EQ(verdict["met"], true);
  ASSERT_EQ(verdict["goals"].size(), 4U);
  EXPECT_EQ(verdict["goals"][0]["goal"], "latency_p99");
  EXPECT_EQ(verdict["goals"][0]["wanted"], 1e6);
  EXPECT_EQ(verdict["goals"][0]["unit"], "ms");
  EXPECT_EQ(verdict["goals"][0]["source"], folder_ / "video.mp4");
  EXPECT_TRUE(verdict["work_on"].is_null());
  EXPECT_TRUE(verdict["period"].is_null()) << "a file has none";
  const Finished missed = run("rate = 1e9");
  EXPECT_EQ(missed.exit_code, 3) << missed.err;
  EXPECT_EQ(test::lines_of(missed.out).at(1)["met"], false);
  EXPECT_FALSE(test::lines_of(missed.out).at(1)["work_on"].is_null());
  const auto live = [&](const std::string& frames, const std::string& every) {
    const Finished finished =
        run_saccade({"run", test::write_box_detector(folder_), "--source",
                     "synthetic:?size=64x48&fps=50&frames=" + frames, "--realtime", "--drop", "wait", "--every", every,
                     "--no-save", "--quiet", "--goals", folder_ / "goals.toml", "--json"});
    return test::lines_of(finished.out);
  };
  const std::vector<json> lines = live("10", "2");
  EXPECT_EQ(lines.at(1)["period"]["period_ms"], 40);
  EXPECT_EQ(lines.at(1)["work_on"], "source") << "it has no more than 25 frames per second";
  EXPECT_TRUE(lines.at(0)["streams"][0]["late"].is_number());
  EXPECT_TRUE(test::lines_of(kept.out).at(0)["streams"][0]["late"].is_null()) << "of a file";
  folder_.write("goals.toml", "rate = 30");
  EXPECT_EQ(live("40", "5").at(1)["work_on"], "skipped") << "there were 50, of which every fifth one was wanted";
  EXPECT_EQ(run("rate = 0").exit_code, 1);
  EXPECT_EQ(run("[source.other]\nrate = 1").exit_code, 1);
}

TEST_F(RunCommand, CountsInZones) {
  const auto run = [&](const std::string& zones, const std::vector<std::string>& more = {}) {
    folder_.write("zones.toml", zones);
    std::vector<std::string> line = {"run",       test::write_box_detector(folder_),
                                     "--source",  video(5),
                                     "--no-save", "--quiet",
                                     "--zones",   folder_ / "zones.toml",
                                     "--track",   "bytetrack:confirm=1"};
    line.insert(line.end(), more.begin(), more.end());
    return run_saccade(line);
  };
  const std::string door = "[[line]]\nname = \"door\"\nfrom = [0, 16]\nto = [64, 16]\n";
  const Finished counted = run(door, {"--json"});
  EXPECT_EQ(counted.exit_code, 0) << counted.err;
  const std::vector<json> lines = test::lines_of(counted.out);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["zones"][0]["zone"], "door");
  EXPECT_EQ(lines[0]["zones"][0]["in"], 0);
  // The model's objects are in the upper left of every frame.
  const Finished stayed =
      run("[[area]]\nname = \"yard\"\nunits = \"normalized\"\n"
          "points = [[0, 0], [1, 0], [1, 1], [0, 1]]\nhold = 0.05\n",
          {"--jsonl", "-"});
  EXPECT_EQ(stayed.exit_code, 0) << stayed.err;
  const auto events = test::lines_of(stayed.out);
  const auto entered =
      std::ranges::count_if(events, [](const json& line) { return line.value("kind", "") == "enter"; });
  EXPECT_EQ(entered, 2) << "near and far";
  const auto fails = [&](const std::string& zones, const std::string& message) {
    const Finished failed = run(zones);
    EXPECT_EQ(failed.exit_code, 1) << message;
    EXPECT_NE(failed.err.find(message), std::string::npos) << failed.err;
  };
  fails("[[area]]\nname = \"yard\"\npoints = [[1, 2], [30, 4]]",
        "zones.toml:1: the area 'yard' has 2 points: it needs three or more corners");
  fails(door + "source = \"other.mp4\"", "the line 'door' is for the source 'other.mp4', but the sources are ");
  fails(door + "classes = [\"person\"]", "the line 'door' counts the class 'person', but the classes are near, far");
  fails("[[line]]\nname = \"door\"\nfrom = [0, 16]\nto = [65, 16]", "outside of frames of 64x32 pixels");
}

TEST_F(RunCommand, SkipsFramesAndLoopsOnRequest) {
  const std::string model = test::write_box_detector(folder_);
  const auto summary_of = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> command{"run", model, "--source", video(5), "--no-save", "--quiet", "--json"};
    command.insert(command.end(), flags.begin(), flags.end());
    const Finished finished = run_saccade(command);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return test::lines_of(finished.out).at(0);
  };
  EXPECT_EQ(summary_of({"--every", "2"})["ledger"]["skipped"], 2);
  EXPECT_EQ(summary_of({"--fps", "12.5"})["ledger"]["processed"], 3);
  EXPECT_EQ(summary_of({"--loop", "--max-frames", "12"})["ledger"]["processed"], 12);
  const json live = summary_of({"--realtime", "--loop", "--max-frames", "6"});
  EXPECT_EQ(live["ledger"]["captured"], 6);
  EXPECT_EQ(live["ledger"]["unaccounted"], 0);
  EXPECT_TRUE(live["streams"][0]["latency_ms"]["total"].contains("p99.9"));
  EXPECT_EQ(run_saccade({"run", model, "--source", images(), "--loop"}).exit_code, 1);
  EXPECT_EQ(run_saccade({"run", model, "--source", images(), "--realtime"}).exit_code, 1);
  EXPECT_EQ(run_saccade({"run", model, "--source", images(), "--fps", "5"}).exit_code, 1);
}

TEST_F(RunCommand, WritesTelemetry) {
  const std::string model = test::write_box_detector(folder_);
  const Finished finished = run_saccade({"run", model, "--source", "synthetic:?size=64x48&fps=10", "--realtime",
                                         "--duration", "2.5", "--no-save", "--quiet", "--telemetry", "-"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = test::lines_of(finished.out);
  ASSERT_FALSE(lines.empty());
  const json& first = lines.front();
  EXPECT_EQ(first["event"], "telemetry");
  EXPECT_EQ(first["streams"][0]["state"], "running");
  EXPECT_EQ(first["streams"][0]["source"], "synthetic:?size=64x48&fps=10");
  EXPECT_TRUE(first["streams"][0]["latency_ms"]["total"].contains("p99.9"));
  EXPECT_TRUE(std::ranges::any_of(lines, [](const json& line) { return line["streams"][0]["rate"] > 0; }));
  EXPECT_GT(first["process"]["rss_bytes"], 1'000'000);
  EXPECT_GE(first["process"]["threads"], 2);
  EXPECT_EQ(run_saccade({"run", model, "--source", images(), "--telemetry", "-", "--jsonl", "-"}).exit_code, 2);
}

TEST_F(RunCommand, AnInterruptEndsARunInOrder) {
  const std::string out = folder_ / "out.json";
  test::Subprocess run({SACCADE_BINARY, "run", "--device", "cpu", test::write_box_detector(folder_), "--source",
                        video(3000), "--jsonl", "-", "--coco", out});
  while (run.out_so_far().find('\n') == std::string::npos) std::this_thread::yield();
  kill(run.pid(), SIGINT);
  const Finished finished = run.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const json summary = test::lines_of(finished.out).back();
  EXPECT_EQ(summary["event"], "summary");
  EXPECT_EQ(summary["ledger"]["unaccounted"], 0);
  EXPECT_LT(summary["ledger"]["processed"], 3000);
  EXPECT_FALSE(json::parse(test::bytes_of_file(out)).empty());
}

}  // namespace
}  // namespace saccade
