#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/module.hpp"
#include "decoded.hpp"
#include "media/elementary.hpp"
#include "media/encode.hpp"
#include "media/modules.hpp"
#include "saccade/error.hpp"
#include "support/temp_folder.hpp"

// Elementary streams without FFmpeg.
namespace saccade {
namespace {

using test::encode_video;
using test::GpuFrames;
using test::play;
using test::Playback;
using testing::HasSubstr;

std::unique_ptr<FrameReader> open_elementary(const std::string& path) {
  return module<NvdecModule>("nvdec").open_elementary(path, {.decode = Decoding::kAuto});
}

class NvdecElementary : public testing::Test {
 protected:
  Playback read(const std::string& path) {
    GpuFrames frames;
    return play(*open_elementary(path), frames);
  }
  std::string refusal(const std::string& path) {
    try {
      open_elementary(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "it is opened";
  }
  test::TempFolder folder_;
};

TEST_F(NvdecElementary, EqualsTheCpu) {
  for (const auto& [name, format, codec, options] :
       {std::tuple{"a.h264", "h264", "libx264", ""}, std::tuple{"b.264", "h264", "libx264", "bf=0"},
        std::tuple{"c.avc", "h264", "libx264", "x264-params=slices=4"}, std::tuple{"d.h265", "hevc", "libx265", ""},
        std::tuple{"e.hevc", "hevc", "libx265", "x265-params=slices=2:bframes=0"}}) {
    SCOPED_TRACE(name);
    const std::string path = folder_ / name;
    ASSERT_TRUE(encode_video(path, format, codec, 60, "", {.width = 174, .height = 134, .options = options}));
    const Playback cpu = play(path, Decoding::kCpu);
    const auto reader = open_elementary(path);
    EXPECT_EQ(reader->info().width, 174);
    EXPECT_EQ(reader->info().height, 134);
    EXPECT_EQ(reader->info().frame_rate, 25);
    GpuFrames frames;
    for (int round = 0; round < 2; ++round) {
      const Playback gpu = play(*reader, frames);
      ASSERT_EQ(gpu.frames.size(), 60U);
      EXPECT_EQ(gpu.from_gpu, 60);
      EXPECT_EQ(gpu.end.status, Status::kEnd);
      for (std::size_t i = 0; i < 60; ++i) {
        EXPECT_TRUE(gpu.frames[i].samples == cpu.frames[i].samples) << "frame " << i;
        EXPECT_EQ(gpu.frames[i].sequence, static_cast<std::int64_t>(i));
        EXPECT_EQ(gpu.frames[i].timestamp_ns, static_cast<std::int64_t>(i) * 40'000'000);
      }
      EXPECT_TRUE(reader->rewind());
    }
  }
}

TEST_F(NvdecElementary, AfterDamageFramesAreCorruptUpToTheNextKeyFrame) {
  const std::string path = folder_ / "a.h264";
  ASSERT_TRUE(encode_video(path, "h264", "libx264", 60, "", {.options = "bf=0"}));
  const Playback whole = read(path);
  std::string bytes = test::bytes_of_file(path);
  // Key frames are 0, 25 and 50: most of a frame between the first two is missing.
  const std::string start("\0\0\1\x41", 4);
  const std::size_t cut = bytes.find(start, bytes.size() / 5) + 40;
  bytes.erase(cut, bytes.find(start, cut) - cut);
  const Playback damaged = read(folder_.write("b.h264", bytes));
  ASSERT_FALSE(damaged.corrupt.empty());
  EXPECT_THAT(damaged.corrupt.back(), HasSubstr("it refers to a frame that is damaged"));
  EXPECT_EQ(damaged.frames.size() + damaged.corrupt.size(), 60U);
  for (const test::Decoded& frame : damaged.frames)
    EXPECT_TRUE(frame.samples == whole.frames[static_cast<std::size_t>(frame.sequence)].samples) << frame.sequence;
  EXPECT_GE(damaged.frames.size(), 35U);
}

TEST_F(NvdecElementary, ATruncatedFileHasTheFramesBefore) {
  const std::string path = folder_ / "a.h264";
  ASSERT_TRUE(encode_video(path, "h264", "libx264", 30, "", {.options = "bf=0"}));
  const std::string bytes = test::bytes_of_file(path);
  const Playback cut = read(folder_.write("b.h264", bytes.substr(0, bytes.size() * 2 / 3)));
  EXPECT_EQ(cut.end.status, Status::kEnd);
  EXPECT_GT(cut.frames.size(), 10U);
  EXPECT_LE(cut.corrupt.size(), 1U);
}

TEST_F(NvdecElementary, OtherFilesAreRefused) {
  EXPECT_THAT(refusal(folder_.write("text.h264", "no video at all")), HasSubstr("it has no start code"));
  EXPECT_THAT(refusal(folder_.write("short.h265", std::string("\0\0\1", 3))), HasSubstr("it has no start code"));
  EXPECT_THAT(refusal(folder_.write("nothing.h264", std::string("\0\0\1\x65\xFF\xFF\xFF\xFF\xFF", 9))),
              HasSubstr("it has no parameter sets of H.264"));
  EXPECT_THAT(refusal(folder_ / "missing.h264"), HasSubstr("missing.h264"));
}

TEST_F(NvdecElementary, AnyDamageIsAccountedFor) {
  for (const auto& [name, format, codec] :
       {std::tuple{"a.h264", "h264", "libx264"}, std::tuple{"a.h265", "hevc", "libx265"}}) {
    ASSERT_TRUE(encode_video(folder_ / name, format, codec, 20));
    const std::string whole = test::bytes_of_file(folder_ / name);
    std::uint32_t random = 3;
    for (int run = 0; run < 12; ++run) {
      std::string bytes = whole;
      for (int i = 0; i < 1 << run / 2; ++i) {
        random = random * 1664525U + 1013904223U;
        bytes[(random >> 4) % bytes.size()] = static_cast<char>(random >> 24);
      }
      const std::string path = folder_.write(std::string("b") + name, bytes);
      GpuFrames frames;
      try {
        const Playback damaged = play(*open_elementary(path), frames);
        EXPECT_LE(damaged.frames.size() + damaged.corrupt.size(), 25U) << "run " << run;
        for (std::size_t i = 1; i < damaged.frames.size(); ++i)
          EXPECT_GT(damaged.frames[i].sequence, damaged.frames[i - 1].sequence);
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      }
    }
  }
}

TEST_F(NvdecElementary, IsKnownByItsName) {
  EXPECT_EQ(elementary_codec("a/b.H264"), ExactCodec::kH264);
  EXPECT_EQ(elementary_codec("b.hevc"), ExactCodec::kHevc);
  EXPECT_FALSE(elementary_codec("b.mp4"));
  EXPECT_FALSE(elementary_codec("h264"));
}

}  // namespace
}  // namespace saccade
