#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "apps/expect_error.hpp"
#include "media/frame_reader.hpp"
#include "saccade/npy.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// Whatever is wrong, the command says so in one line that names the thing, and exits with 1 (2 for usage).
namespace saccade {
namespace {

using test::expect_error;
using test::Finished;
using test::run_saccade;

class Failures : public testing::Test {
 protected:
  /// An image of one colour, SIZE pixels wide and high.
  std::string image(const std::string& name = "image.png", int size = 8) {
    std::vector<std::uint8_t> pixels(3 * static_cast<std::size_t>(size) * static_cast<std::size_t>(size), 200);
    write_image(folder_ / name, view_of(RgbView{pixels.data(), 3 * size, size, size}));
    return folder_ / name;
  }

  /// The first two thirds of an image's file.
  void truncated_image(const std::string& name) {
    const std::string whole = test::bytes_of_file(image(name, 64));
    folder_.write(name, whole.substr(0, whole.size() * 2 / 3));
  }

  std::string video(int frames = 30) {
    const std::string path = folder_ / "video.mp4";
    const auto writer = open_video_writer(path, 25);
    std::vector<std::uint8_t> pixels(3 * 64 * 64);
    for (int i = 0; i < frames; ++i) {
      // Noise, so that the file is long enough to cut a piece off.
      for (std::uint8_t& pixel : pixels)
        pixel = static_cast<std::uint8_t>(state_ = state_ * 1103515245U + 12345U, state_ >> 16U);
      writer->write(view_of(RgbView{pixels.data(), 3 * 64, 64, 64}), i * 40'000'000LL);
    }
    writer->close();
    return path;
  }

  std::string cut(const std::string& path, double share) {
    const std::string whole = test::bytes_of_file(path);
    return folder_.write("cut" + std::filesystem::path(path).extension().string(),
                         whole.substr(0, static_cast<std::size_t>(static_cast<double>(whole.size()) * share)));
  }

  std::string model() { return test::write_box_detector(folder_); }

  test::TempFolder folder_;
  std::uint32_t state_ = 1;
};

TEST_F(Failures, UsageIsExitCode2) {
  expect_error(run_saccade({"run"}), 2, {"MODEL", "saccade run --help"});
  expect_error(run_saccade({"frobnicate"}), 2, {"frobnicate"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--wrong"}), 2, {"unknown flag '--wrong'"});
  expect_error(run_saccade({"run", "m.onnx"}), 2, {"--source"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--conf", "2"}), 2, {"--conf"});
  for (const char* flag : {"--conf", "--iou", "--duration"})
    expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", flag, "nan"}), 2, {flag, "'nan'"});
  expect_error(run_saccade({"bench", "m.onnx", "--duration", "nan"}), 2, {"--duration", "'nan'"});
  expect_error(run_saccade({"bench", "--compare", "a", "b", "--tolerance", "nan"}), 2, {"--tolerance", "'nan'"});
  for (const char* subcommand : {"profile", "limits"})
    expect_error(run_saccade({subcommand, "m.onnx", "--duration", "nan"}), 2, {"--duration", "'nan'"});
  expect_error(run_saccade({"demo", "--duration", "nan"}), 2, {"--duration", "'nan'"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--threads", "0"}), 2, {"--threads"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--queue", "0"}), 2, {"--queue"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--drop", "all"}), 2, {"--drop"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--roi", "1,2,3"}), 2, {"--roi", "'1,2,3'"});
  for (const std::string number : {"4294967297", "1000001", "-1", "010x", "99999999999999999999"})
    expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--roi", number + ",0,5,5"}), 2,
                 {"--roi", "'" + number + "' is not an integer from 0 to 1000000"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--roi", "0,0,0,5"}), 2,
               {"--roi", "'0' is not an integer from 1 to 1000000"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--json", "--jsonl", "-"}), 2, {"standard output"});
  for (const char* flag : {"--runs", "--streams", "--tolerance", "--data"})  // of other commands
    expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", flag, "1"}), 2, {"unknown flag", flag});
  expect_error(run_saccade({"infer", "m.onnx"}), 2, {"--output"});
  expect_error(run_saccade({"infer", "m.onnx", "--output", "d", "--input", "x"}), 2, {"--input", "'x'"});
  expect_error(run_saccade({"infer", "m.onnx", "--output", "d", "--shape", "x=1xa"}), 2, {"--shape", "'a'"});
  expect_error(run_saccade({"inspect"}), 2, {"MODEL"});
}

TEST_F(Failures, AMemoryLimitIsASizeThatModelsKeep) {
  for (const char* size : {"0", "many", "4X", "4GB", "-1", "99999999T"})
    expect_error(run_saccade({"inspect", model(), "--max-model-memory", size}), 2, {"--max-model-memory", size});
  expect_error(run_saccade({"inspect", model(), "--max-model-memory", "1K"}), 1,
               {model(), "but the model's limit is", "--max-model-memory SIZE"});
  EXPECT_EQ(run_saccade({"inspect", model(), "--max-model-memory", "64M"}).exit_code, 0);
}

TEST_F(Failures, WhatDoesNotExistIsRejectedByName) {
  expect_error(run_saccade({"ladder", "m.onnx"}), 2, {"unknown command 'ladder'"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--display"}), 2, {"unknown flag '--display'"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--device", "cuda:one"}), 2,
               {"'cuda:one' is not known", "auto, cpu, cuda, cuda:N or reference"});
  expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--precision", "int8"}), 2,
               {"'int8' is not known", "fp16"});
  expect_error(run_saccade({"run", model(), "--source", "s3://bucket/x"}), 1, {"s3://bucket/x"});
}

TEST_F(Failures, AMissingFileIsNamed) {
  expect_error(run_saccade({"inspect", "/nowhere/m.onnx"}), 1, {"/nowhere/m.onnx"});
  expect_error(run_saccade({"run", model(), "--source", "/nowhere/v.mp4"}), 1, {"/nowhere/v.mp4"});
  expect_error(run_saccade({"run", "/nowhere/m.onnx", "--source", image()}), 1, {"/nowhere/m.onnx"});
  expect_error(run_saccade({"infer", model(), "--output", folder_ / "o", "--input", "image=/nowhere/x.npy"}), 1,
               {"/nowhere/x.npy"});
  expect_error(run_saccade({"run", model(), "--source", image(), "--card", "/nowhere/c.toml"}), 1, {"/nowhere/c.toml"});
}

TEST_F(Failures, AnInvalidModelIsNamed) {
  const std::string text = folder_.write("text.onnx", "This is not a model.\n");
  expect_error(run_saccade({"inspect", text}), 1, {text});
  const std::string empty = folder_.write("empty.onnx", "");
  expect_error(run_saccade({"inspect", empty}), 1, {empty});
  const std::string short_model = cut(model(), 0.6);
  expect_error(run_saccade({"inspect", short_model}), 1, {short_model});
  expect_error(run_saccade({"inspect", folder_.string()}), 1, {folder_.string()});
}

TEST_F(Failures, NamesThatAFileInventsStayInOneLine) {
  onnx_writer::Model strange(13);
  strange.input("x", {1}).output("y");
  strange.node({.op = "Relu", .inputs = {"x", "x"}, .outputs = {"y", "z"}, .name = "two\nlines \x1b[31mred"});
  strange.save(folder_ / "strange.onnx");
  expect_error(run_saccade({"inspect", folder_ / "strange.onnx"}), 1, {"'two\\nlines \\x1b[31mred'"});

  onnx_writer::Model endless(13);
  endless.input("x", {1}).output("y");
  endless.node({.op = "Relu", .inputs = {"x"}, .outputs = {"y", "z"}, .name = std::string(100'000, 'n')});
  endless.save(folder_ / "endless.onnx");
  const Finished finished = run_saccade({"inspect", folder_ / "endless.onnx"});
  expect_error(finished, 1, {"endless.onnx", "nnn"});
  EXPECT_LT(finished.err.size(), 5000U);
}

TEST_F(Failures, AnUnsupportedOperatorIsNamed) {
  onnx_writer::Model strange(13);
  strange.input("x", {1, 3, 8, 8}).output("y");
  strange.opset("com.example", 1);
  strange.node(
      {.op = "Frobnicate", .inputs = {"x"}, .outputs = {"y"}, .name = "strange_node", .domain = "com.example"});
  strange.save(folder_ / "strange.onnx");
  for (const char* subcommand : {"inspect", "infer"}) {
    std::vector<std::string> arguments = {subcommand, folder_ / "strange.onnx"};
    if (arguments[0] == "infer") arguments.insert(arguments.end(), {"--output", folder_ / "o"});
    expect_error(run_saccade(arguments), 1, {"strange.onnx", "Frobnicate", "strange_node"});
  }
}

TEST_F(Failures, AnInvalidImageIsNamed) {
  const std::string empty = folder_.write("empty.jpg", "");
  expect_error(run_saccade({"run", model(), "--source", empty}), 1, {empty});
  const std::string text = folder_.write("text.jpg", "This is not an image.\n");
  expect_error(run_saccade({"run", model(), "--source", text}), 1, {text});
  const std::string broken = cut(image("whole.png", 64), 0.8);
  const Finished finished = run_saccade({"run", model(), "--no-save", "--source", broken, "--log-level", "error"});
  expect_error(finished, 1, {"cut.png"});
  std::filesystem::create_directory(folder_ / "nothing");
  expect_error(run_saccade({"run", model(), "--source", folder_ / "nothing"}), 1, {"nothing"});
}

TEST_F(Failures, AVideoThatIsCutShortIsNamed) {
  const std::string broken = cut(video(), 0.7);
  expect_error(run_saccade({"run", model(), "--no-save", "--source", broken}), 1, {broken});
  const std::string text = folder_.write("text.mp4", "This is not a video.\n");
  expect_error(run_saccade({"run", model(), "--source", text}), 1, {text});
}

TEST_F(Failures, AnUnwritableOutputIsNamed) {
  const std::string source = image();
  const auto run = [&](const std::string& flag, const std::string& path) {
    return run_saccade({"run", model(), "--source", source, flag, path});
  };
  for (const char* flag : {"--jsonl", "--csv", "--coco"}) {
    expect_error(run(flag, "/nowhere/out"), 1, {"can't write /nowhere/out"});
    expect_error(run(flag, folder_.string()), 1, {"can't write " + folder_.string()});
    expect_error(run(flag, "/dev/full"), 1, {"/dev/full", "No space left"});
  }
  expect_error(run("--video", "/nowhere/out.mp4"), 1, {"/nowhere/out.mp4"});
  expect_error(run("--video", folder_ / "out.strange"), 1, {"out.strange"});
  expect_error(run("--frames", source + "/sub"), 1, {"image.png/sub"});
  expect_error(run_saccade({"infer", model(), "--output", source + "/sub"}), 1, {"image.png/sub"});
}

TEST_F(Failures, AnOutputIsNeverWrittenOverItsSource) {
  const std::string source = video();
  const std::string before = test::bytes_of_file(source);
  expect_error(run_saccade({"run", model(), "--source", source, "--video", source}), 2, {source, "elsewhere"});
  EXPECT_TRUE(test::bytes_of_file(source) == before);
}

TEST_F(Failures, ATensorThatDoesNotFitIsNamed) {
  save_npy(folder_ / "x.npy", Tensor(DType::kFloat32, {1, 3, 4, 4}));
  folder_.write("bad.npy", "hello");
  const auto infer = [&](const std::string& input) {
    return run_saccade({"infer", model(), "--output", folder_ / "o", "--input", input});
  };
  expect_error(infer("image=" + (folder_ / "x.npy")), 1, {"'image'", "1x3x8x8", "1x3x4x4"});
  expect_error(infer("image=" + (folder_ / "bad.npy")), 1, {"bad.npy", "not a .npy file"});
  expect_error(infer("photo=" + (folder_ / "x.npy")), 1, {"no input 'photo'", "'image'"});
}

TEST_F(Failures, AnUnknownPassClassOrShapeIsNamed) {
  expect_error(run_saccade({"inspect", model(), "--disable-pass", "fold_everything"}), 2, {"fold_everything"});
  expect_error(run_saccade({"inspect", model(), "--dump-pass", "fold_everything"}), 2, {"fold_everything"});
  expect_error(run_saccade({"run", model(), "--no-save", "--source", image(), "--classes", "unicorn"}), 1, {"unicorn"});
  expect_error(run_saccade({"inspect", model(), "--shape", "images=1x3x8x8"}), 1, {"'images'", "'image'"});
}

TEST_F(Failures, AModelOfAnotherTaskHasNoCocoResults) {
  expect_error(
      run_saccade({"run", test::write_color_classifier(folder_), "--source", image(), "--coco", folder_ / "out.json"}),
      1, {"out.json", "color"});
}

TEST_F(Failures, ADamagedImageAmongGoodOnesIsCountedNotFatal) {
  std::filesystem::create_directory(folder_ / "mixed");
  image("mixed/a.png");
  folder_.write("mixed/b.png", "not an image");
  image("mixed/c.png");
  const Finished finished = run_saccade({"run", model(), "--no-save", "--source", folder_ / "mixed", "--json"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.out.find(R"("captured":3,"processed":2,)"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find(R"("corrupt":1,)"), std::string::npos) << finished.out;
  EXPECT_NE(finished.err.find("b.png"), std::string::npos) << finished.err;
}

TEST_F(Failures, TheDamageOfAnImageIsNamedOnce) {
  for (const char* name : {"a.png", "b.png"}) truncated_image(name);
  image("c.png");
  const auto count_of = [](const std::string& text, const std::string& name) {
    int count = 0;
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) ++count;
    return count;
  };
  const auto damage = [&](const std::string& name) { return "'" + folder_ / name + "' is damaged"; };
  const Finished alone = run_saccade({"run", model(), "--no-save", "--source", folder_ / "a.png"});
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_EQ(count_of(alone.out + alone.err, damage("a.png")), 1) << alone.out << alone.err;
  EXPECT_NE(alone.err.find("error: " + damage("a.png")), std::string::npos) << alone.err;
  const Finished both = run_saccade({"run", model(), "--no-save", "--source", folder_ / "a.png", folder_ / "b.png"});
  EXPECT_EQ(both.exit_code, 1);
  const Finished good =
      run_saccade({"run", model(), "--no-save", "--source", folder_ / "a.png", folder_ / "b.png", folder_ / "c.png"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  for (const Finished* finished : {&both, &good})
    for (const char* name : {"a.png", "b.png"})
      EXPECT_EQ(count_of(finished->out + finished->err, damage(name)), 1) << finished->out << finished->err;
}

TEST_F(Failures, TheSummaryNamesTheFaultsThatTheErrorDoesNot) {
  for (const std::string name : {"a", "b"}) {
    std::filesystem::create_directory(folder_ / ("of_" + name));
    truncated_image("of_" + name + "/" + name + ".png");
  }
  const Finished finished = run_saccade({"run", model(), "--no-save", "--source", folder_ / "of_a", folder_ / "of_b"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  const bool is_first = finished.err.find("of_a") != std::string::npos;
  EXPECT_NE(finished.out.find(is_first ? "b.png' is damaged" : "a.png' is damaged"), std::string::npos)
      << finished.out << finished.err;
}

}  // namespace
}  // namespace saccade
