#include <gtest/gtest.h>

#include "base/module.hpp"
#include "decoded.hpp"
#include "emulated.hpp"
#include "media/encode.hpp"
#include "media/looping_reader.hpp"
#include "media/modules.hpp"
#include "support/temp_folder.hpp"

// Videos that are read again and again: the first packets of a round follow the last ones of the round before.
namespace saccade {
namespace {

using test::encode_video;
using test::expect_same;
using test::GpuFrames;
using test::Playback;

using Open = std::unique_ptr<FrameReader> (*)(const std::string&, const ReaderOptions&);

constexpr int kCallFailed = 999;

class NvdecLoop : public testing::Test {
 protected:
  std::string video(const std::string& name, const char* format, const char* codec, int frames, const char* options) {
    EXPECT_TRUE(encode_video(folder_ / name, format, codec, frames, "", {.options = options}));
    return folder_ / name;
  }

  /// The first COUNT frames and errors of PATH, again and again.
  static Playback loop(const std::string& path, Decoding decoding, int count, Open open = &open_reader) {
    Playback playback;
    GpuFrames frames;
    const auto reader = open_looping([&] { return open(path, {.decode = decoding}); });
    for (int i = 0; i < count; ++i) {
      const Outcome<Frame> frame = reader->read(frames);
      if (frame) {
        playback.from_gpu += frame->view.memory == MemoryKind::kDevice ? 1 : 0;
        playback.frames.push_back(test::decoded(*frame));
      } else if (frame.failure().status == Status::kCorrupt) {
        playback.corrupt.push_back(frame.failure().message);
      } else {
        ADD_FAILURE() << frame.failure().message;
        break;
      }
    }
    return playback;
  }

  test::TempFolder folder_;
  test::EmulatedCalls nvcuvid_{"libnvcuvid.so.1"};
};

TEST_F(NvdecLoop, EveryRoundHasTheSameFrames) {
  for (const auto& [format, codec, options] :
       {std::tuple{"mp4", "libx264", "bf=0"}, std::tuple{"mp4", "libx264", "bf=3"},
        std::tuple{"h264", "libx264", "bf=0"}, std::tuple{"mkv", "libx264", "bf=3"},
        std::tuple{"avi", "libx264", "bf=0"}, std::tuple{"mp4", "libx265", ""},
        std::tuple{"mkv", "libx264", "bf=3,x264-params=open-gop=1"}, std::tuple{"webm", "libvpx", ""},
        std::tuple{"webm", "libvpx-vp9", ""}}) {
    // As short as what a decoder holds back, and longer.
    for (const int frames : {1, 2, 3, 5, 20}) {
      if (codec == std::string_view("libx265") && frames < 20) continue;  // it has no decoding times for so few
      SCOPED_TRACE(fmt::format("{} {} {} {}", format, codec, options, frames));
      const std::string path = video("a", format == std::string("mkv") ? "matroska" : format, codec, frames, options);
      const int count = 3 * frames + 2;
      const Playback gpu = loop(path, Decoding::kCuda, count);
      EXPECT_EQ(gpu.from_gpu, count);
      expect_same(gpu, loop(path, Decoding::kCpu, count));
    }
  }
}

TEST_F(NvdecLoop, EveryRoundOfAnElementaryStreamHasTheSameFrames) {
  auto* const open = module<NvdecModule>("nvdec").open_elementary;
  for (const auto& [name, format, codec, options] :
       {std::tuple{"a.h264", "h264", "libx264", "bf=3"}, std::tuple{"a.h265", "hevc", "libx265", ""}}) {
    for (const int frames : {1, 2, 4, 20}) {
      SCOPED_TRACE(fmt::format("{} {}", name, frames));
      const std::string path = video(name, format, codec, frames, options);
      const Playback once = test::play(path, Decoding::kCpu);
      const int count = 3 * frames + 2;
      const Playback looped = loop(path, Decoding::kCuda, count, open);
      EXPECT_EQ(looped.from_gpu, count);
      for (std::size_t i = 0; i < looped.frames.size(); ++i) {
        EXPECT_EQ(looped.frames[i].sequence, static_cast<std::int64_t>(i));
        EXPECT_EQ(looped.frames[i].timestamp_ns, static_cast<std::int64_t>(i) * 40'000'000);
        EXPECT_TRUE(looped.frames[i].samples == once.frames[i % once.frames.size()].samples) << i;
      }
    }
  }
}

TEST_F(NvdecLoop, TheDecoderGoesOnBetweenTwoRounds) {
  if (!nvcuvid_) GTEST_SKIP() << "only the emulated GPU counts calls";
  for (const auto& [format, open] :
       {std::pair{"mp4", &open_reader}, std::pair{"h264", module<NvdecModule>("nvdec").open_elementary}}) {
    SCOPED_TRACE(format);
    const std::string path = video(std::string("a.") + format, format, "libx264", 20, "bf=3");
    std::vector<std::ptrdiff_t> parsers;
    for (const int count : {10, 90}) {
      const std::ptrdiff_t before = nvcuvid_.count("cuvidCreateVideoParser");
      loop(path, Decoding::kCuda, count, open);
      parsers.push_back(nvcuvid_.count("cuvidCreateVideoParser") - before);
    }
    EXPECT_GT(parsers[0], 0);
    EXPECT_EQ(parsers[1], parsers[0]) << "as for half of a round";
  }
}

TEST_F(NvdecLoop, AFailureBetweenTwoRoundsCostsNoFrame) {
  if (!nvcuvid_) GTEST_SKIP() << "only the emulated GPU can be made to fail";
  const std::string path = video("a.mp4", "mp4", "libx264", 20, "bf=3");
  const Playback cpu = loop(path, Decoding::kCpu, 50);
  for (const char* function : {"cuvidParseVideoData", "cuvidDecodePicture", "cuvidMapVideoFrame64"}) {
    for (int after = 14; after < 26; ++after) {
      SCOPED_TRACE(fmt::format("{} {}", function, after));
      const std::ptrdiff_t before = nvcuvid_.count("cuvidCreateVideoParser");
      nvcuvid_.fail(function, after, kCallFailed);
      const Playback gpu = loop(path, Decoding::kAuto, 50);
      EXPECT_GT(gpu.from_gpu, 0);
      EXPECT_EQ(nvcuvid_.count("cuvidCreateVideoParser") - before, 2) << "the next round is opened again";
      expect_same(gpu, cpu);
    }
  }
}

TEST_F(NvdecLoop, AFailureToBeginAgainCostsNoFrame) {
  if (!nvcuvid_) GTEST_SKIP() << "only the emulated GPU can be made to fail";
  // The decoder holds back the whole video: it begins again with another parser.
  for (const auto& [format, open] :
       {std::pair{"mp4", &open_reader}, std::pair{"h264", module<NvdecModule>("nvdec").open_elementary}}) {
    SCOPED_TRACE(format);
    const std::string path = video(std::string("a.") + format, format, "libx264", 2, "bf=0");
    const Playback cpu = test::play(path, Decoding::kCpu);
    GpuFrames frames;
    const auto reader = open_looping([&, open = open] { return open(path, {.decode = Decoding::kCuda}); });
    const std::ptrdiff_t before = nvcuvid_.count("cuvidCreateVideoParser");
    for (std::size_t i = 0; i < 20; ++i) {
      if (i == 1) nvcuvid_.fail("cuvidCreateVideoParser", 0, kCallFailed);
      const Outcome<Frame> frame = reader->read(frames);
      ASSERT_TRUE(frame) << frame.failure().message;
      ASSERT_EQ(frame->sequence, static_cast<std::int64_t>(i));
      ASSERT_TRUE(test::decoded(*frame).samples == cpu.frames[i % 2].samples) << i;
    }
    EXPECT_GT(nvcuvid_.count("cuvidCreateVideoParser") - before, 2);
  }
}

TEST_F(NvdecLoop, DamageIsThatOfTheCpuInEveryRound) {
  const std::string whole = test::bytes_of_file(video("whole.mp4", "mp4", "libx264", 60, "bf=0"));
  const std::size_t data = whole.find("mdat") + 4;
  const std::size_t end = whole.find("moov") - 4;
  // In the first frames, in the middle, and in the last ones.
  for (const std::size_t at : {data + 2000, (data + end) / 2, end - 1200}) {
    SCOPED_TRACE(at);
    std::string bytes = whole;
    for (std::size_t i = 0; i < 1000; i += 50) bytes[at + i] ^= static_cast<char>(1U << (i / 50 % 8));
    const std::string path = folder_.write("damaged.mp4", bytes);
    const Playback cpu = loop(path, Decoding::kCpu, 150);
    EXPECT_FALSE(cpu.corrupt.empty()) << "nothing was damaged";
    expect_same(loop(path, Decoding::kAuto, 150), cpu);
  }
}

}  // namespace
}  // namespace saccade
