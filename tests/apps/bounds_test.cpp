#include <gtest/gtest.h>

#include <filesystem>

#include "apps/expect_error.hpp"
#include "saccade/npy.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// Excessive requests are refused before memory is taken; running out of memory is reported.
namespace saccade {
namespace {

using test::expect_error;
using test::Finished;
using test::run_saccade;

class Bounds : public testing::Test {
 protected:
  /// A model of images of any size.
  std::string open_model() {
    onnx_writer::Model model(17);
    model.input("x", {1, 3, "height", "width"}).output("y");
    model.node({.op = "Relu", .inputs = {"x"}, .outputs = {"y"}, .name = "relu"});
    model.save(folder_ / "open.onnx");
    return folder_ / "open.onnx";
  }

  /// Runs the box detector with this card.
  Finished with_card(const std::string& text) {
    const std::string model = test::write_box_detector(folder_);
    return run_saccade({"run", model, "--no-save", "--source", "synthetic:?frames=1&size=16x16", "--card",
                        folder_.write("cards/card.toml", text)});
  }

  void SetUp() override { std::filesystem::create_directory(folder_ / "cards"); }

  test::TempFolder folder_;
};

TEST_F(Bounds, InputsCountBeforeTheyAreDrawn) {
  const std::string model = open_model();
  for (const char* subcommand : {"infer", "bench", "profile"}) {
    std::vector<std::string> arguments = {subcommand, model, "--shape", "x=1x3x100000x100000"};
    if (arguments[0] == "infer") arguments.insert(arguments.end(), {"--output", folder_ / "o"});
    expect_error(run_saccade(arguments), 1, {"input 'x'", "--max-model-memory SIZE"});
  }
  // 12 MiB each way: in the arena, and in the caller's tensors.
  const auto infer = [&](const char* limit) {
    return run_saccade(
        {"infer", model, "--shape", "x=1x3x1024x1024", "--max-model-memory", limit, "--output", folder_ / "o"});
  };
  expect_error(infer("30M"), 1, {"the input 'x' (1x3x1024x1024)", "12.0 MiB"});
  EXPECT_EQ(infer("60M").exit_code, 0);
}

TEST_F(Bounds, AModelAndItsFilesAreRegularOnes) {
  const std::string model = test::write_box_detector(folder_);
  expect_error(with_card("[output]\nlabels = \"/dev/zero\"\n"), 1, {"labels", "/dev/zero", "refused"});
  for (const char* device : {"/dev/zero", "/dev/stdin"}) {
    expect_error(run_saccade({"run", model, "--no-save", "--source", "synthetic:?frames=1", "--card", device}), 1,
                 {device});
    expect_error(run_saccade({"inspect", device}), 1, {device});
  }
}

TEST_F(Bounds, LabelsLieBesideTheirCard) {
  folder_.write("outside.txt", "near\nfar\n");
  folder_.write("cards/inside.txt", "near\nfar\n");
  std::filesystem::create_symlink("../outside.txt", folder_ / "cards/link.txt");
  std::filesystem::create_symlink("inside.txt", folder_ / "cards/here.txt");
  const auto labels = [&](const std::string& path) { return with_card("[output]\nlabels = \"" + path + "\"\n"); };
  for (const std::string path : {"/etc/passwd", "../outside.txt", "link.txt", "here/../../outside.txt"})
    expect_error(labels(path), 1, {"card.toml:2", "output.labels", path, "refused"});
  for (const char* path : {"inside.txt", "./inside.txt", "here.txt"}) EXPECT_EQ(labels(path).exit_code, 0) << path;
}

TEST_F(Bounds, LabelsHaveALengthAndANumber) {
  folder_.write("cards/long.txt", std::string(2000, 'a') + "\nfar\n");
  expect_error(with_card("[output]\nlabels = \"long.txt\"\n"), 1, {"long.txt", "2000 bytes"});
  expect_error(with_card("[output]\nlabels = [\"" + std::string(2000, 'a') + "\", \"far\"]\n"), 1,
               {"card.toml:2", "output.labels", "1024 bytes"});
  expect_error(with_card("[output]\nlabels = [\"ne\\u0000ar\", \"far\"]\n"), 1, {"card.toml:2", "without a NUL"});
  std::string many;
  for (int i = 0; i < 100'001; ++i) many += "\"a\",";
  expect_error(with_card("[output]\nlabels = [" + many + "]\n"), 1, {"card.toml", "100000 labels"});
}

TEST_F(Bounds, ACardThatSaysNothingIsNone) {
  for (const char* text : {"", "# only words\n", "[input]\n", "[output]\n"})
    expect_error(with_card(text), 1, {"card.toml", "the card has no keys"});
  const std::string model = test::write_box_detector(folder_);
  expect_error(run_saccade({"run", model, "--no-save", "--source", "synthetic:?frames=1", "--card", folder_ / "cards"}),
               1, {"cards", "is a folder"});
}

TEST_F(Bounds, AKeyWithoutEffectIsReportedByItsLine) {
  expect_error(with_card("[input]\nresize_to = 300\n"), 1,
               {"card.toml:2", "'input.resize_to' has no effect", "resize-crop"});
  expect_error(with_card("[input]\nresize = \"letterbox\"\nresize_to = 300\n"), 1, {"card.toml:3", "'letterbox'"});
  expect_error(with_card("[input]\nresize = \"stretch\"\npad = 114\n"), 1,
               {"card.toml:3", "'input.pad' has no effect"});
  expect_error(with_card("[input]\nresize = \"resize-crop\"\npad = 114\n"), 1, {"card.toml:3", "'input.pad'"});
  EXPECT_EQ(with_card("[input]\nresize = \"resize-crop\"\nresize_to = 9\n").exit_code, 0);
  EXPECT_EQ(with_card("[input]\nresize = \"letterbox-topleft\"\npad = 114\n").exit_code, 0);
}

// A sanitizer's own memory is unlimited.
#ifndef SACCADE_SANITIZED

/// Runs the command with so many MB of what LIMIT bounds: v, its address space; d, its writable memory.
Finished run_within(int megabytes, const std::string& command, const std::string& limit = "v") {
  return test::Subprocess({"/bin/sh", "-c",
                           "ulimit -c 0; ulimit -" + limit + " " + std::to_string(1024 * megabytes) + "; exec " +
                               SACCADE_BINARY + " " + command})
      .wait();
}

void expect_message_and_no_signal(int megabytes, const std::string& command, const std::string& limit) {
  const Finished finished = run_within(megabytes, command, limit);
  const std::string what = "ulimit -" + limit + ", " + std::to_string(megabytes) + " MB, " + command + ": ";
  // 127: the system's loader could not even map the program.
  EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 1 || finished.exit_code == 127)
      << what << finished.exit_code << finished.err;
  EXPECT_TRUE(finished.exit_code == 0 || !finished.err.empty()) << what;
  EXPECT_EQ(finished.err.find("bug in saccade"), std::string::npos) << finished.err;
}

TEST_F(Bounds, ANoiseFrameIsCounted) {
  expect_error(run_within(4000, "bench --frame 65536x65536:i444 " + test::write_box_detector(folder_)), 1,
               {"a frame of 65536x65536 needs 12.0 GiB"});
}

TEST_F(Bounds, WithoutMemoryThereIsAMessageAndNoSignal) {
  const std::string model = test::write_box_detector(folder_);
  const std::string scene = " --source 'synthetic:?frames=2&size=640x480'";
  onnx_writer::Model filtered(17);
  filtered.input("x", {1, 64, 64, 64}).output("y0");
  for (int i = 0; i < 40; ++i) {
    const std::string weights = "w" + std::to_string(i);
    filtered.initializer(
        onnx_writer::tensor<float>(weights, {64, 64, 3, 3}, std::vector<float>(64 * 64 * 9, 0.001F * (1 + i))));
    filtered.node({.op = "Conv",
                   .inputs = {i == 0 ? "x" : "y" + std::to_string(40 - i), weights},
                   .outputs = {"y" + std::to_string(39 - i)},
                   .attributes = {onnx_writer::attribute("pads", onnx_writer::Dims{1, 1, 1, 1})},
                   .name = "conv" + std::to_string(i)});
  }
  filtered.save(folder_ / "filtered.onnx");
  const std::vector<std::string> commands = {
      "infer " + (folder_ / "filtered.onnx") + " --output " + (folder_ / "o"),
      "run " + model + scene + " --jsonl /dev/null --video " + (folder_ / "v.mp4"),
      "run " + model + scene + " --frames " + (folder_ / "frames"),
      "infer " + open_model() + " --shape x=1x3x2000x2000 --output " + (folder_ / "o"),
      "compile " + model + " -o " + (folder_ / "p.plan"),
      "inspect --pipeline " + model,
      "bench --runs 40 --duration 0 --loads 1 " + model,
      "demo --render 1 --output " + (folder_ / "render")};
  for (const std::string& command : commands) {
    for (int megabytes = 60; megabytes < 2400; megabytes += megabytes / 2)
      expect_message_and_no_signal(megabytes, command, "v");
    for (int megabytes = 10; megabytes < 300; megabytes += megabytes / 2)
      expect_message_and_no_signal(megabytes, command, "d");
  }
}

#endif

}  // namespace
}  // namespace saccade
