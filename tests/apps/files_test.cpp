#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/expect_error.hpp"
#include "media/frame_reader.hpp"
#include "saccade/npy.hpp"
#include "support/tiny_models.hpp"

// No input file is overwritten, and no two outputs share a file: in every command the exit code is 2 and all files are
// unchanged.
namespace saccade {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::run_saccade;

class Files : public testing::Test {
 protected:
  /// Refused, naming PARTS, with every file unchanged and none added.
  void expect_conflict(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const auto before = contents();
    expect_error(run_saccade(arguments), 2, parts);
    EXPECT_TRUE(contents() == before) << "files have changed";
  }

  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.string()))
      if (entry.is_regular_file()) files[entry.path().string()] = test::bytes_of_file(entry.path().string());
    return files;
  }

  /// Runs the command through a shell, with redirections.
  static test::Finished shell(const std::string& command) {
    return test::Subprocess({"/bin/sh", "-c", std::string(SACCADE_BINARY) + " " + command}).wait();
  }

  std::string image(const std::string& name) {
    std::vector<std::uint8_t> pixels(3 * 8 * 8, 200);
    fs::create_directories(fs::path(folder_ / name).parent_path());
    write_image(folder_ / name, view_of(RgbView{pixels.data(), 3 * 8, 8, 8}));
    return folder_ / name;
  }

  std::string video(const std::string& name) {
    const auto writer = open_video_writer(folder_ / name, 25);
    std::vector<std::uint8_t> pixels(3 * 64 * 64, 90);
    for (int i = 0; i < 3; ++i) writer->write(view_of(RgbView{pixels.data(), 3 * 64, 64, 64}), i * 40'000'000LL);
    writer->close();
    return folder_ / name;
  }

  test::TempFolder folder_;
  const std::string model_ = test::write_box_detector(folder_);
};

TEST_F(Files, RunWritesOverNothingThatItReads) {
  const std::string shown = image("shown.png");
  folder_.write("labels.txt", "near\nfar\n");
  folder_.write("card.toml",
                "[input]\nresize = \"stretch\"\n[output]\ndecoder = \"yolo-e2e\"\nlabels = \"labels.txt\"\n");
  fs::create_hard_link(shown, folder_ / "hard.png");
  fs::create_symlink(shown, folder_ / "soft.png");
  for (const char* flag : {"--jsonl", "--csv", "--coco"}) {
    for (const char* name : {"shown.png", "hard.png", "soft.png", "boxes.onnx", "boxes.toml"})
      expect_conflict({"run", model_, "--source", shown, flag, folder_ / name}, {name, "elsewhere"});
    for (const char* name : {"card.toml", "labels.txt"})
      expect_conflict({"run", model_, "--source", shown, "--card", folder_ / "card.toml", flag, folder_ / name},
                      {name, "elsewhere"});
  }
}

TEST_F(Files, RunWritesIntoNoFolderThatItReads) {
  image("many/a.png");
  expect_conflict({"run", model_, "--source", folder_ / "many", "--jsonl", folder_ / "many/a.png"}, {"is an input"});
  expect_conflict({"run", model_, "--source", folder_ / "many", "--frames", folder_ / "many"}, {"many is an input"});
  expect_conflict({"run", model_, "--source", folder_ / "many", "--yolo", folder_ / "many"}, {"many is an input"});
  // An image in a folder that is read does not protect the folder, only its own name.
  const std::string like_ours = image("drawn/0-000001.png");
  expect_conflict({"run", model_, "--source", like_ours, "--frames", folder_ / "drawn"}, {"0-000001.png is an input"});
}

TEST_F(Files, NumberedVideosSpareTheirSources) {
  const std::string first = video("in.mp4");
  const std::string second = video("o-1.mp4");
  expect_conflict({"run", model_, "--source", first, "--source", second, "--video", folder_ / "o.mp4"}, {"o-1.mp4"});
}

TEST_F(Files, TwoOutputsHaveTwoFiles) {
  const std::string shown = image("shown.png");
  const auto both = [&](const std::string& one, const std::string& other) {
    expect_conflict({"run", model_, "--source", shown, "--jsonl", one, "--csv", other}, {"two outputs"});
  };
  both(folder_ / "out", folder_ / "out");
  both(folder_ / "out", folder_ / "./out");
  fs::create_symlink("out", folder_ / "soft");
  both(folder_ / "out", folder_ / "soft");
  folder_.write("old", "old");
  fs::create_hard_link(folder_ / "old", folder_ / "older");
  both(folder_ / "old", folder_ / "older");
  expect_error(run_saccade({"run", model_, "--source", shown, "--jsonl", "-", "--csv", "/dev/stdout"}), 2,
               {"standard output: only one"});
  fs::create_directory(folder_ / "drawn");
  expect_conflict(
      {"run", model_, "--source", shown, "--frames", folder_ / "drawn", "--jsonl", folder_ / "drawn/0-1.jpg"},
      {"two outputs"});
  expect_conflict({"profile", model_, "--source", shown, "--max-frames", "2", "--html", folder_ / "out", "--jsonl",
                   folder_ / "out"},
                  {"two outputs"});
  // The null device may be the target of any number of outputs.
  EXPECT_EQ(run_saccade({"run", model_, "--source", shown, "--jsonl", "/dev/null", "--csv", "/dev/null"}).exit_code, 0);
}

TEST_F(Files, CompileSparesItsModelAndItsWeights) {
  expect_conflict({"compile", model_, "-o", model_}, {"boxes.onnx is an input"});
  expect_conflict({"compile", model_, "-o", folder_ / "boxes.toml"}, {"boxes.toml is an input"});
  onnx_writer::Model outside(13);
  outside.input("x", {2}).output("y");
  outside.initializer(onnx_writer::external_tensor("w", 1, {2}, {{"location", "weights.bin"}}));
  outside.node({.op = "Add", .inputs = {"x", "w"}, .outputs = {"y"}, .name = "add"});
  outside.save(folder_ / "outside.onnx");
  folder_.write("weights.bin", std::string(8, '\0'));
  expect_conflict({"compile", folder_ / "outside.onnx", "-o", folder_ / "weights.bin"}, {"weights.bin is an input"});
  for (const char* device : {"/dev/stdout", "/dev/null", "-"})
    expect_error(run_saccade({"compile", model_, "-o", device}), 1, {"a plan can't be written to", device});
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, InferSparesItsInputs) {
  fs::create_directory(folder_ / "d");
  save_npy(folder_ / "d/detections.npy", Tensor(DType::kFloat32, {1, 3, 8, 8}));
  expect_conflict({"infer", model_, "--input", "image=" + (folder_ / "d/detections.npy"), "--output", folder_ / "d"},
                  {"detections.npy is an input"});
}

TEST_F(Files, ValidateDoesNotOverwriteItsImages) {
  const std::string colors = test::write_color_classifier(folder_);
  image("coco/1.png");
  folder_.write("coco/instances.json", R"({"images":[{"id":1,"file_name":"1.png","width":8,"height":8}],
      "categories":[{"id":1,"name":"near"}],
      "annotations":[{"id":1,"image_id":1,"category_id":1,"bbox":[1,2,4,4],"area":16,"iscrowd":0}]})");
  for (const char* name : {"coco/1.png", "coco/instances.json", "boxes.onnx", "boxes.toml"})
    expect_conflict({"validate", model_, "--data", "coco:" + (folder_ / "coco"), "--results", folder_ / name},
                    {"elsewhere"});
}

TEST_F(Files, WhatStandardOutputIsRedirectedToIsNoInput) {
  const std::string shown = image("shown.png");
  const std::string run = "run " + model_ + " --no-save --source " + shown;
  const std::string commands[] = {
      "inspect " + model_ + " --json >>" + model_,
      "inspect " + model_ + " 1<>" + model_,
      "bench --runs 1 --duration 0 --loads 1 " + model_ + " --json 1<>" + model_,
      run + " --json >>" + shown,
      run + " --json >>" + (folder_ / "boxes.toml"),
      run + " 2>>" + shown,
      "compile " + model_ + " --log-level debug -o " + (folder_ / "plan") + " 2>>" + model_,
  };
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    auto before = contents();
    const test::Finished finished = shell(command);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    auto after = contents();
    if (command.find("2>>") != std::string::npos) {
      // A redirected standard error contains only the error itself.
      for (auto& [name, bytes] : after) bytes.resize(std::min(bytes.size(), before[name].size()));
    }
    EXPECT_TRUE(after == before) << "files have changed";
  }
}

TEST_F(Files, WhatStandardOutputIsRedirectedToIsNoOtherOutput) {
  const std::string shown = image("shown.png");
  const std::string out = folder_ / "out";
  const std::string run = "run " + model_ + " --source " + shown;
  for (const std::string& command :
       {run + " --json --jsonl " + out, run + " --csv " + out,
        "profile " + model_ + " --source " + shown + " --max-frames 2 --json --html " + out})
    expect_error(shell(command + " >" + out), 2, {"standard output"});
  expect_error(shell(run + " --video " + (folder_ / "out.mp4") + " >" + (folder_ / "out.mp4")), 2,
               {"two outputs", "standard output"});
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    expect_error(run_saccade({"run", model_, "--source", shown, "--json", "--jsonl", name}), 2, {"standard output"});
  // A sink may use standard output by any of its names, redirected or not.
  EXPECT_EQ(shell(run + " --jsonl /dev/stdout >" + out).exit_code, 0);
  EXPECT_TRUE(test::bytes_of_file(out).starts_with("{\"stream\""));
  EXPECT_EQ(shell(run + " --jsonl - >" + out + " 2>&1").exit_code, 0);
}

TEST_F(Files, LinksInAnOutputFolderSpareTheirInputs) {
  const std::string shown = image("shown.png");
  fs::create_directory(folder_ / "out");
  fs::create_hard_link(shown, folder_ / "out/0-000000.jpg");
  expect_conflict({"run", model_, "--source", shown, "--frames", folder_ / "out"}, {"0-000000.jpg", "input"});
  fs::remove(folder_ / "out/0-000000.jpg");
  fs::create_hard_link(model_, folder_ / "out/after.dot");
  expect_conflict({"inspect", model_, "--graphviz", folder_ / "out"}, {"after.dot", "input"});
  expect_conflict({"limits", model_, "--output", model_}, {"boxes.onnx", "input"});
}

TEST_F(Files, AFifoWithoutAReaderIsRefusedAtOnce) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string shown = image("shown.png");
  expect_error(run_saccade({"compile", model_, "--device", "cpu", "-o", fifo}), 1, {"fifo", "name a file"});
  expect_error(run_saccade({"run", model_, "--source", shown, "--jsonl", fifo, "--csv", fifo, "--quiet"}), 2,
               {"two outputs"});
}

TEST_F(Files, AnEmptyValueIsNoValue) {
  const std::string shown = image("shown.png");
  expect_conflict({"run", "--source", shown, "--jsonl=", model_}, {"--jsonl needs a value"});
  expect_conflict({"run", model_, "--source", shown, "--jsonl", ""}, {"--jsonl needs a value"});
  expect_conflict({"compile", model_, "-o", ""}, {"-o needs a value"});
  expect_conflict({"compile", model_, "--output="}, {"--output needs a value"});
  expect_conflict({"inspect", ""}, {"needs a value"});
}

TEST_F(Files, AFifoIsRefusedNotWaitedFor) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string shown = image("shown.png");
  const auto card = [&](const std::string& labels) {
    return folder_.write("labelled.toml", "[output]\ndecoder = \"yolo-e2e\"\nlabels = \"" + labels + "\"\n");
  };
  for (const std::string& path : {fifo, std::string("/dev/zero")}) {
    expect_error(run_saccade({"inspect", path}), 1, {path});
    expect_error(run_saccade({"run", model_, "--source", path}), 1, {path});
    expect_error(run_saccade({"run", model_, "--source", shown, "--card", path}), 1, {path, "regular file"});
    expect_error(run_saccade({"run", model_, "--source", shown, "--card", card(path)}), 1, {path});
    expect_error(run_saccade({"infer", model_, "--output", folder_ / "o", "--input", "image=" + path}), 1, {path});
    expect_error(run_saccade({"bench", "--compare", path, path}), 1, {path, "regular file"});
    expect_error(run_saccade({"bench", model_, "--runs", "1", "--duration", "0", "--against", "onnxruntime",
                              "--peers-python", "/bin/true", "--peers-model", path}),
                 1, {path, "regular file"});
    expect_error(run_saccade({"limits", "--device-file", path}), 1, {path, "regular file"});
  }
}

TEST_F(Files, AFifoBesideOtherFilesIsNamed) {
  const auto make_fifo = [&](const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    ASSERT_EQ(mkfifo((folder_ / name).c_str(), 0600), 0);
  };
  make_fifo("coco/instances.json");
  make_fifo("coco2/annotations/instances_val.json");
  std::filesystem::create_directories(folder_ / "coco2/val");
  make_fifo("imagenet/synset.txt");
  for (const auto& [data, file] : {std::pair{"coco:coco", "coco/instances.json"},
                                   {"coco:coco2", "instances_val.json"},
                                   {"imagenet:imagenet", "imagenet/synset.txt"}}) {
    const std::string kind(data, std::strchr(data, ':') + 1);
    expect_error(run_saccade({"validate", model_, "--data", kind + (folder_ / (data + kind.size()))}), 1,
                 {file, "is a device, FIFO or socket"});
  }
  std::filesystem::remove(folder_ / "coco/instances.json");
  std::filesystem::create_symlink("/dev/zero", folder_ / "coco/instances.json");
  expect_error(run_saccade({"validate", model_, "--data", "coco:" + (folder_ / "coco")}), 1,
               {"coco/instances.json", "is a device, FIFO or socket"});
}

TEST_F(Files, AFileThatTheKernelMakesUpIsEmptyNotWaitedFor) {
  // Reading the first one waits for the kernel's next message; a container may lack it.
  const std::string kernel = std::filesystem::exists("/proc/kmsg") ? "/proc/kmsg" : "/proc/version";
  const std::string shown = image("shown.png");
  expect_error(run_saccade({"inspect", kernel}), 1, {kernel});
  expect_error(run_saccade({"run", model_, "--source", kernel}), 1, {kernel});
  expect_error(run_saccade({"run", model_, "--source", shown, "--card", kernel}), 1, {kernel});
  expect_error(run_saccade({"bench", "--compare", kernel, kernel}), 1, {kernel});
}

TEST_F(Files, AMessageThatCanNotBeWrittenIsAFailure) {
  const std::string compile = "compile " + model_ + " --device cpu -o " + (folder_ / "p.plan");
  for (const char* lost : {" 2>/dev/full", " 2>&-"}) {
    EXPECT_EQ(shell(compile + lost).exit_code, 0) << "there is none";
    EXPECT_EQ(shell(compile + " --log-level debug" + lost).exit_code, 1);
  }
  EXPECT_EQ(shell(compile + " --log-level debug").exit_code, 0);
  // A warning about the file with two models' results.
  const std::string run = "run " + model_ + " " + model_ + " --source " + image("shown.png") + " --coco /dev/null";
  EXPECT_EQ(shell(run).exit_code, 0);
  EXPECT_EQ(shell(run + " 2>/dev/full").exit_code, 1);
}

TEST_F(Files, ResultsOfSeveralModelsInOneCocoFileWarnOnce) {
  const std::string shown = image("shown.png");
  const auto run = [&](std::vector<std::string> command) {
    command.insert(command.end(), {"--source", shown, "--coco", folder_ / "o.json"});
    return run_saccade(command);
  };
  const test::Finished two = run({"run", model_, model_});
  EXPECT_EQ(two.exit_code, 0);
  EXPECT_NE(two.err.find("holds the results of 2 models"), std::string::npos) << two.err;
  EXPECT_EQ(run({"run", model_}).err, "");
}

TEST_F(Files, AReportThatCanNotBeWrittenIsAFailure) {
  for (const std::string& subcommand : {"inspect " + model_, "inspect " + model_ + " --json", std::string("--help"),
                                        std::string("run --help"), "bench --runs 1 --duration 0 --loads 1 " + model_}) {
    SCOPED_TRACE(subcommand);
    expect_error(shell(subcommand + " >/dev/full"), 1, {"can't write standard output: No space left"});
    expect_error(shell(subcommand + " >&-"), 1, {"can't write standard output"});
  }
  const std::string run = "run " + model_ + " --no-save --quiet --source " + image("shown.png");
  for (const char* lost : {" --jsonl - >/dev/full", " --jsonl - >&-", " --json >/dev/full", " >&-", " --csv /dev/full"})
    expect_error(shell(run + lost), 1, {"can't write"});
  // The summary goes to standard error if a sink uses standard output.
  for (const char* lost : {" --jsonl - 2>/dev/full", " --jsonl - 2>&-"}) EXPECT_EQ(shell(run + lost).exit_code, 1);
  // That of a live source, whose sinks are tried again, is printed all the same.
  const test::Finished live = shell(
      "run " + model_ + " --source 'synthetic:?size=64x48' --realtime --max-frames 3 --quiet --json --jsonl /dev/full");
  EXPECT_EQ(live.exit_code, 1) << live.err;
  EXPECT_NE(live.out.find("\"event\":\"summary\""), std::string::npos) << live.out;
  // A closed descriptor is not reused by the first opened file.
  EXPECT_EQ(shell(run + " --jsonl " + (folder_ / "kept.jsonl") + " >&- 2>&-").exit_code, 1);
  EXPECT_TRUE(test::bytes_of_file(folder_ / "kept.jsonl").starts_with("{\"stream\""));
}

TEST_F(Files, AReaderThatGoesAwayIsAnErrorNotASignal) {
  const std::string run =
      std::string(SACCADE_BINARY) + " run --device cpu " + model_ + " --source 'synthetic:?size=64x64&frames=3000'";
  const auto end =
      test::Subprocess(
          {"/bin/sh", "-c", "{ " + run + " --jsonl -; echo $? >" + (folder_ / "code") + "; } | head -1 >/dev/null"})
          .wait();
  EXPECT_EQ(test::bytes_of_file(folder_ / "code"), "1\n");
  EXPECT_NE(end.err.find("standard output: Broken pipe"), std::string::npos) << end.err;
}

TEST_F(Files, OutputsGoOnWithoutAReaderOfTheLines) {
  constexpr int kFrames = 300;
  const std::string file = folder_ / "all.jsonl";
  const auto end =
      test::Subprocess({"/bin/sh", "-c",
                        "{ " + std::string(SACCADE_BINARY) + " run --device cpu " + model_ +
                            " --source 'synthetic:?size=64x64&frames=" + std::to_string(kFrames) + "' --jsonl " + file +
                            " --no-summary; echo $? >" + (folder_ / "code") + "; } | true"})
          .wait();
  EXPECT_EQ(test::bytes_of_file(folder_ / "code"), "1\n");
  EXPECT_NE(end.err.find("the other outputs go on"), std::string::npos) << end.err;
  EXPECT_EQ(std::ranges::count(test::bytes_of_file(file), '\n'), kFrames);
  // The lines are on standard error, the summary is not.
  const std::string run = "run " + model_ + " --source 'synthetic:?size=64x64&frames=3' --json 2>/dev/full";
  EXPECT_EQ(shell(run + " --jsonl " + file).exit_code, 1);
  const test::Finished telemetry = shell(run + " --no-save --telemetry " + file);
  EXPECT_EQ(telemetry.exit_code, 1);
  EXPECT_NE(telemetry.out.find("\"event\":\"summary\""), std::string::npos) << "the run has gone on";
}

TEST_F(Files, ALimitOfTheirSizeIsAnErrorNotASignal) {
  const auto frames =
      test::Subprocess({"/bin/sh", "-c",
                        "ulimit -f 8; exec " + std::string(SACCADE_BINARY) + " run --device cpu " + model_ +
                            " --source 'synthetic:?frames=100' --jsonl " + (folder_ / "big.jsonl")})
          .wait();
  expect_error(frames, 1, {"can't write", "big.jsonl", "File too large"});
  // The preceding lines are complete.
  const std::string lines = test::bytes_of_file(folder_ / "big.jsonl");
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), '\n');
  for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1)
    EXPECT_TRUE(nlohmann::json::accept(lines.substr(at, lines.find('\n', at) - at)));

  const auto list =
      test::Subprocess({"/bin/sh", "-c",
                        "ulimit -f 8; exec " + std::string(SACCADE_BINARY) + " run --device cpu " + model_ +
                            " --source 'synthetic:?frames=1000' --coco " + (folder_ / "big.json")})
          .wait();
  expect_error(list, 1, {"can't write", "big.json", "File too large"});
  EXPECT_TRUE(nlohmann::json::accept(test::bytes_of_file(folder_ / "big.json")));
}

}  // namespace
}  // namespace saccade
