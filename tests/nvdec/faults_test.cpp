#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/module.hpp"
#include "decoded.hpp"
#include "emulated.hpp"
#include "media/encode.hpp"
#include "media/modules.hpp"
#include "saccade/error.hpp"
#include "support/temp_folder.hpp"

// What a video, its end, and a GPU can do to a decoder on it.
namespace saccade {
namespace {

using test::encode_video;
using test::expect_same;
using test::GpuFrames;
using test::play;
using test::Playback;
using testing::HasSubstr;

constexpr int kOutOfMemory = 2;
constexpr int kFailed = 999;

class NvdecFaults : public testing::Test {
 protected:
  std::string video(const std::string& name, const char* format, const char* codec = "libx264", int frames = 60,
                    const test::Encoding& encoding = {}) {
    EXPECT_TRUE(encode_video(folder_ / name, format, codec, frames, "", encoding));
    return folder_ / name;
  }

  static std::string why_not(const std::string& path) {
    try {
      open_reader(path, {.decode = Decoding::kCuda});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      return error.what();
    }
    return "it is opened";
  }

  test::TempFolder folder_;
  test::EmulatedCalls nvcuvid_{"libnvcuvid.so.1"};
  test::EmulatedCalls driver_{"libcuda.so.1"};
};

TEST_F(NvdecFaults, ImagesMayChangeTheirSize) {
  const std::string small = video("small", "h264", "libx264", 20, {.width = 96, .height = 80});
  const std::string large = video("large", "h264", "libx264", 20, {.width = 320, .height = 240});
  const std::string both =
      folder_.write("both.h264", test::bytes_of_file(small) + test::bytes_of_file(large) + test::bytes_of_file(small));
  const Playback gpu = play(both, Decoding::kCuda);
  expect_same(gpu, play(both, Decoding::kCpu));
  EXPECT_EQ(gpu.frames.size(), 60U);
  EXPECT_EQ(gpu.from_gpu, 60);
}

TEST_F(NvdecFaults, TheCpuGoesOnWhereASizeIsNotSupported) {
  const std::string usual = video("usual", "h264", "libx264", 20);
  const std::string narrow = video("narrow", "h264", "libx264", 20, {.width = 32, .height = 32});
  const std::string both = folder_.write("both.h264", test::bytes_of_file(usual) + test::bytes_of_file(narrow));
  const Playback automatic = play(both, Decoding::kAuto);
  expect_same(automatic, play(both, Decoding::kCpu));
  EXPECT_GT(automatic.from_gpu, 0);
  EXPECT_LE(automatic.from_gpu, 20);
  const Playback gpu = play(both, Decoding::kCuda);
  EXPECT_EQ(gpu.end.status, Status::kLost);
  EXPECT_THAT(gpu.end.message, HasSubstr("at least 48x16 pixels, and this has 32x32"));
}

TEST_F(NvdecFaults, WhatAnEditListSkipsIsNotShown) {
  // Five frames before the time 0, which is where a player begins.
  const std::string whole = video("whole.mp4", "mp4", "libx264", 40, {.options = "bf=0"});
  AVFormatContext* context = nullptr;
  test::check_av(avformat_open_input(&context, ("file:" + whole).c_str(), nullptr, nullptr));
  const AvInput input(context);
  test::check_av(avformat_find_stream_info(context, nullptr));
  const AVStream& stream = *context->streams[0];
  const std::string cut = folder_ / "cut.mp4";
  {
    test::Muxer muxer(cut, "mp4", *stream.codecpar, stream.time_base, "avoid_negative_ts=disabled,use_editlist=1");
    const AvPacket packet(av_packet_alloc());
    const std::int64_t shift = av_rescale_q(5, {1, 25}, stream.time_base);
    while (av_read_frame(context, packet.get()) == 0) {
      packet->pts -= shift;
      packet->dts -= shift;
      muxer.write(*packet);
    }
  }
  const Playback cpu = play(cut, Decoding::kCpu);
  EXPECT_EQ(cpu.frames.size(), 35U) << "the file has no edit list";
  const Playback gpu = play(cut, Decoding::kCuda);
  EXPECT_EQ(gpu.from_gpu, 35);
  expect_same(gpu, cpu);
}

TEST_F(NvdecFaults, NothingIsShownBeforeAKeyFrame) {
  const std::string bytes = test::bytes_of_file(video("whole.h264", "h264", "libx264", 60, {.options = "bf=0"}));
  // Without the first key frame: its parameter sets stay.
  const std::string key("\0\0\1\x65", 4);
  const std::string next("\0\0\1\x41", 4);
  const std::size_t at = bytes.find(key);
  const std::string path = folder_.write("cut.h264", bytes.substr(0, at) + bytes.substr(bytes.find(next, at)));
  expect_same(play(path, Decoding::kAuto), play(path, Decoding::kCpu));
}

TEST_F(NvdecFaults, DamagedFramesAreThoseOfTheCpu) {
  const std::string whole = test::bytes_of_file(video("whole.mp4", "mp4", "libx264", 120, {.options = "bf=0"}));
  for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
    SCOPED_TRACE(seed);
    std::string bytes = whole;
    const std::size_t data = bytes.find("mdat") + 4;
    const std::size_t end = bytes.find("moov") - 4;
    std::uint32_t random = seed;
    for (int i = 0; i < 12; ++i) {
      random = random * 1664525U + 1013904223U;
      bytes[data + 1500 + (random >> 4) % (end - data - 1500)] ^= static_cast<char>(1U << (random & 7U));
    }
    const std::string path = folder_.write("damaged.mp4", bytes);
    const Playback cpu = play(path, Decoding::kCpu);
    EXPECT_FALSE(cpu.corrupt.empty()) << "nothing was damaged";
    const Playback gpu = play(path, Decoding::kAuto);
    EXPECT_GT(gpu.from_gpu, 0);
    expect_same(gpu, cpu);
  }
}

TEST_F(NvdecFaults, WhatItCanNotDecodeIsForTheCpu) {
  const std::string mpeg4 = video("mpeg4.mp4", "mp4", "mpeg4", 10);
  EXPECT_EQ(play(mpeg4, Decoding::kAuto).from_gpu, 0);
  EXPECT_EQ(play(mpeg4, Decoding::kAuto).frames.size(), 10U);
  EXPECT_THAT(why_not(mpeg4), HasSubstr("mpeg4 is decoded by the CPU"));
  const std::string avi = video("a.avi", "avi", "libx264", 20);
  EXPECT_EQ(play(avi, Decoding::kAuto).from_gpu, 0);
  EXPECT_THAT(why_not(avi), HasSubstr("no presentation times"));
  const std::string narrow = video("narrow.mp4", "mp4", "libx264", 10, {.width = 32, .height = 32});
  EXPECT_EQ(play(narrow, Decoding::kAuto).from_gpu, 0);
  EXPECT_THAT(why_not(narrow), HasSubstr("at least 48x16 pixels"));
}

TEST_F(NvdecFaults, NoGpuReadsTheFramesOfModelsOnTheCpu) {
  const std::string path = video("a.mp4", "mp4", "libx264", 10);
  test::FramePool plain;
  EXPECT_EQ(play(*open_reader(path, {.decode = Decoding::kAuto}), plain).from_gpu, 0);
  test::FramePool others;
  const Playback forced = play(*open_reader(path, {.decode = Decoding::kCuda}), others);
  EXPECT_EQ(forced.from_gpu, 10);
  expect_same(forced, play(path, Decoding::kCpu));
}

TEST_F(NvdecFaults, FailuresOfTheGpuCostNoFrame) {
  if (!nvcuvid_) GTEST_SKIP() << "only the emulated GPU can be made to fail";
  const std::string path = video("a.mp4", "mp4");
  const Playback cpu = play(path, Decoding::kCpu);
  for (const auto& [function, after, result] :
       {std::tuple{"cuvidGetDecoderCaps", 0, kFailed}, std::tuple{"cuvidCreateVideoParser", 0, kFailed},
        std::tuple{"cuvidCreateDecoder", 0, kOutOfMemory}, std::tuple{"cuvidDecodePicture", 0, kFailed},
        std::tuple{"cuvidDecodePicture", 30, kFailed}, std::tuple{"cuvidMapVideoFrame64", 20, kFailed},
        std::tuple{"cuvidGetDecodeStatus", 20, kFailed}, std::tuple{"cuvidParseVideoData", 40, kFailed}}) {
    SCOPED_TRACE(std::string(function) + " " + std::to_string(after));
    nvcuvid_.fail(function, after, result);
    expect_same(play(path, Decoding::kAuto), cpu);
  }
}

TEST_F(NvdecFaults, FailuresEndAVideoThatOnlyTheGpuMayDecode) {
  if (!nvcuvid_) GTEST_SKIP() << "only the emulated GPU can be made to fail";
  const std::string path = video("a.mp4", "mp4");
  nvcuvid_.fail("cuvidCreateDecoder", 0, kOutOfMemory);
  const Playback gpu = play(path, Decoding::kCuda);
  EXPECT_EQ(gpu.end.status, Status::kLost);
  EXPECT_THAT(gpu.end.message, HasSubstr("cuvidCreateDecoder failed with CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_THAT(gpu.end.message, HasSubstr(path));
  nvcuvid_.fail("cuvidGetDecoderCaps", 0, kFailed);
  EXPECT_THAT(why_not(path), HasSubstr("cuvidGetDecoderCaps failed"));
}

TEST_F(NvdecFaults, NothingIsKept) {
  const std::string path = video("a.mp4", "mp4");
  play(path, Decoding::kAuto);
  const int before = test::live_objects();
  GpuFrames frames;
  {
    const auto reader = open_reader(path, {.decode = Decoding::kAuto});
    std::vector<Frame> kept;
    for (int i = 0; i < 3; ++i) kept.push_back(std::move(*reader->read(frames)));
    EXPECT_GE(frames.taken(), 3U * 160 * 128 * 3 / 2);
    kept.clear();
    play(*reader, frames);
    EXPECT_EQ(frames.taken(), 0U) << "a video that has ended counts against the limit";
  }
  EXPECT_EQ(test::live_objects(), before);
}

TEST_F(NvdecFaults, ImagesOutliveTheirReader) {
  const std::string path = video("a.mp4", "mp4");
  const Playback cpu = play(path, Decoding::kCpu);
  const int before = test::live_objects();
  {
    GpuFrames frames;
    auto reader = open_reader(path, {.decode = Decoding::kAuto});
    const Frame first = std::move(*reader->read(frames));
    const Frame second = std::move(*reader->read(frames));
    reader.reset();
    EXPECT_TRUE(test::decoded(first) == cpu.frames[0]);
    EXPECT_TRUE(test::decoded(second) == cpu.frames[1]);
  }
  EXPECT_EQ(test::live_objects(), before);
}

TEST_F(NvdecFaults, PixelsAreCopiedToTheHostOnce) {
  const std::string path = video("a.mp4", "mp4");
  GpuFrames frames;
  const auto reader = open_reader(path, {.decode = Decoding::kAuto});
  const Frame frame = std::move(*reader->read(frames));
  EXPECT_EQ(frame.view.memory, MemoryKind::kDevice);
  EXPECT_EQ(frame.view.device, 0);
  const auto before = driver_ ? driver_.count("cuMemcpyDtoHAsync_v2") : 0;
  std::vector<FrameView> views(8);
  {
    std::vector<std::jthread> threads;
    for (FrameView& view : views) threads.emplace_back([&] { view = host_view(frame); });
  }
  for (const FrameView& view : views) {
    EXPECT_NO_THROW(check_readable(view));
    EXPECT_EQ(view.planes, views[0].planes);
  }
  if (driver_) {
    EXPECT_EQ(driver_.count("cuMemcpyDtoHAsync_v2"), before + 1);
  }
}

TEST_F(NvdecFaults, AReaderThatWaitsForABufferCanBeCancelled) {
  const std::string path = video("a.mp4", "mp4");
  GpuFrames frames(2);
  const auto reader = open_reader(path, {.decode = Decoding::kAuto});
  std::vector<Frame> kept;
  std::optional<Failure> failure;
  std::jthread thread([&] {
    while (!failure) {
      Outcome<Frame> frame = reader->read(frames);
      if (frame)
        kept.push_back(std::move(*frame));
      else
        failure = frame.failure();
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  reader->cancel();
  thread.join();
  EXPECT_EQ(failure->status, Status::kCancelled);
  EXPECT_GE(kept.size(), 2U);
  EXPECT_LT(kept.size(), 60U) << "there is no limit";
}

}  // namespace
}  // namespace saccade
