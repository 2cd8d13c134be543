#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/expect_error.hpp"
#include "media/frame_reader.hpp"
#include "support/frames.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// Unreadable or unwritable images and videos: each is skipped, counted, named and reported.
namespace saccade {
namespace {

namespace fs = std::filesystem;

using test::expect_error;
using test::Finished;
using test::run_saccade;
using test::Subprocess;

class MediaRuns : public testing::Test {
 protected:
  std::string image(const std::string& name, int width = 8, int height = 8) {
    std::vector<std::uint8_t> pixels(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 200);
    fs::create_directories(fs::path(folder_ / name).parent_path());
    write_image(folder_ / name, view_of(RgbView{pixels.data(), 3 * width, width, height}));
    return folder_ / name;
  }

  std::string video(const std::string& name, int frames = 10) {
    const auto writer = open_video_writer(folder_ / name, 25);
    std::vector<std::uint8_t> pixels(3 * 64 * 64, 100);
    for (int i = 0; i < frames; ++i) writer->write(view_of(RgbView{pixels.data(), 3 * 64, 64, 64}), i * 40'000'000LL);
    writer->close();
    return folder_ / name;
  }

  std::string model() { return test::write_box_detector(folder_); }

  test::TempFolder folder_;
};

TEST_F(MediaRuns, AnImageTooLargeForItsWriterIsSkipped) {
  image("in/1.png");
  image("in/2.png", 70'000, 2);
  image("in/3.png");

  const Finished run = run_saccade(
      {"run", model(), "--source", folder_ / "in", "--frames", folder_ / "out", "--jsonl", folder_ / "out.jsonl"});

  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("0-000001.jpg"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("70000x2"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("3 captured = 3 processed"), std::string::npos) << run.out;
  EXPECT_TRUE(fs::exists(folder_ / "out/0-000000.jpg"));
  EXPECT_FALSE(fs::exists(folder_ / "out/0-000001.jpg"));
  EXPECT_TRUE(fs::exists(folder_ / "out/0-000002.jpg"));
  const std::string lines = test::bytes_of_file(folder_ / "out.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
}

TEST_F(MediaRuns, AFrameThatAVideoCannotHoldCostsItself) {
  image("in/1.png", 70'000, 2);
  image("in/2.png", 64, 64);
  image("in/3.png", 32, 32);
  image("in/4.png", 64, 64);

  const Finished run = run_saccade({"run", model(), "--source", folder_ / "in", "--video", folder_ / "out.mp4"});

  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("70000x2"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("32x32"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("2 images could not be written"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("4 captured = 4 processed"), std::string::npos) << run.out;
  EXPECT_EQ(open_reader(folder_ / "out.mp4")->info().frames, 2);
}

TEST_F(MediaRuns, AVideoThatCannotBeWrittenCostsNoOtherSource) {
  fs::create_symlink("/dev/full", folder_ / "out-1.mp4");
  const std::string scene = "synthetic:?size=160x128&frames=90";
  const Finished run = run_saccade({"run", model(), "--quiet", "--json", "--source", scene + "&seed=1", "--source",
                                    scene + "&seed=2", "--video", folder_ / "out.mp4"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("out-1.mp4"), std::string::npos) << run.err;
  EXPECT_EQ(open_reader(folder_ / "out.mp4")->info().frames, 90);
  const auto summary = nlohmann::json::parse(run.out);
  EXPECT_EQ(summary["sinks"][0]["written"], 90) << run.out;
  EXPECT_GT(summary["sinks"][1]["failed"], 0) << run.out;
}

/// Its muxer can't go on.
TEST_F(MediaRuns, TheDrawnVideoOfALiveSourceEndsWhereTheDiskIsFull) {
  const std::string command = "cd " + folder_.string() +
                              "; trap '' XFSZ; ulimit -f 4; exec " SACCADE_BINARY " run --device cpu --quiet " +
                              model() + " --source 'synthetic:?size=160x128&fps=100' --realtime --max-frames 100";
  const Finished run = Subprocess({"/bin/sh", "-c", command}).wait();
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("saccade-run/synthetic/synthetic.mp4"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("tried again"), std::string::npos) << run.err;
}

TEST_F(MediaRuns, TwoImagesOfOneImageIdAreRefusedByName) {
  const auto run = [&](std::vector<std::string> sources) {
    std::vector<std::string> arguments = {"run", model(), "--coco", folder_ / "out.json"};
    for (const std::string& source : sources) arguments.insert(arguments.end(), {"--source", source});
    return run_saccade(arguments);
  };
  image("a/1.jpg");
  image("b/1.jpg");
  image("both/1.jpg");
  image("both/1.png");
  image("frames/name.png");  // has no number: frame 0
  image("frames/zero_0.png");
  image("apart/7.png");
  image("apart/name.png");
  expect_error(run({folder_ / "a", folder_ / "b"}), 2, {"a/1.jpg", "b/1.jpg", "image_id 1"});
  expect_error(run({folder_ / "both"}), 2, {"both/1.jpg", "both/1.png", "image_id 1"});
  expect_error(run({folder_ / "frames"}), 2, {"name.png", "zero_0.png", "image_id 0"});
  expect_error(run({video("v.mp4"), video("w.mp4")}), 2, {"v.mp4", "w.mp4", "frame 0"});
  expect_error(run({folder_ / "apart", video("v.mp4")}), 2, {"name.png", "frame 1 of", "v.mp4"});
  EXPECT_FALSE(fs::exists(folder_ / "out.json"));
  EXPECT_EQ(run({folder_ / "apart"}).exit_code, 0);
  EXPECT_EQ(run({folder_ / "apart", folder_ / "a"}).exit_code, 2);  // "name.png" is its frame 1
  EXPECT_EQ(run({video("v.mp4")}).exit_code, 0);
}

TEST_F(MediaRuns, WhatCannotBeOpenedIsSaidInOneSentence) {
  fs::create_symlink("loop.mp4", folder_ / "loop.mp4");
  expect_error(run_saccade({"run", model(), "--no-save", "--source", folder_ / "loop.mp4"}), 1,
               {"loop.mp4", "symbolic links"});
  const std::string strange = folder_.write("two\nlines\x1b[31m \xff.mp4", "no video\n");
  const Finished run = run_saccade({"run", model(), "--no-save", "--source", strange});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos) << run.err;
}

TEST_F(MediaRuns, AnAnimatedPngIsOneImageWithAWarning) {
  using namespace std::string_literals;
  const std::string still = test::bytes_of_file(image("still.png"));
  constexpr std::size_t kHead = 8 + 25;  // the signature and the chunk IHDR
  const std::string control = "\0\0\0\x08"s + "acTL\0\0\0\x02\0\0\0\0"s + "\xF3\x8D\x93\x70"s;
  const std::string path = folder_.write("moving.png", still.substr(0, kHead) + control + still.substr(kHead));

  const Finished run = run_saccade({"run", model(), "--no-save", "--source", path});

  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("moving.png' is an animated PNG"), std::string::npos) << run.err;
}

TEST_F(MediaRuns, NamesThatLookLikeProtocolsAreFiles) {
  for (const char* name : {"concat:a|b.mp4", "a:b.mp4", "frame%03d.mp4", "a*.mp4", "two\nlines.mp4"}) {
    video("plain.mp4", 3);
    fs::rename(folder_ / "plain.mp4", folder_ / name);
    EXPECT_EQ(run_saccade({"run", model(), "--no-save", "--source", folder_ / name, "--max-frames", "2"}).exit_code, 0)
        << name;
  }
}

/// Frames in the file that a killed run left at PATH. A kill during a write cuts its last frame, which is reported as
/// corrupt; no frame follows.
int frames_left(const std::string& path) {
  test::FramePool pool(2);
  const auto reader = open_reader(path);
  int frames = 0;
  bool is_cut = false;
  while (true) {
    const auto frame = reader->read(pool);
    if (!frame && frame.failure().status != Status::kCorrupt) return frames;
    EXPECT_FALSE(is_cut) << path << ": a frame follows a corrupt one";
    is_cut = !frame;
    frames += frame ? 1 : 0;
  }
}

TEST_F(MediaRuns, AKilledRunLeavesAVideoThatPlays) {
  for (const char* name : {"out.mp4", "out.mkv", "out.mov", "out.avi"}) {
    for (const int milliseconds : {1, 150, 400}) {
      const std::string path = folder_ / name;
      const std::string lines = folder_ / "out.jsonl";
      fs::remove(path);
      fs::remove(lines);
      Subprocess run({SACCADE_BINARY, "run", "--device", "cpu", model(), "--source",
                      "synthetic:?size=160x128&objects=2", "--video", path, "--jsonl", lines});
      for (int i = 0; i < 3000 && !fs::exists(path); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      const std::string results = test::bytes_of_file(lines);
      kill(run.pid(), SIGKILL);
      EXPECT_EQ(run.wait().exit_code, 128 + SIGKILL);

      // 30 frames are a second of the scene; a result is written before its image.
      const auto seen = std::count(results.begin(), results.end(), '\n');
      EXPECT_GE(frames_left(path), std::max<std::ptrdiff_t>(1, seen - 30)) << name << " after " << milliseconds;
    }
  }
}

}  // namespace
}  // namespace saccade
