#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "decoded.hpp"
#include "emulated.hpp"
#include "media/encode.hpp"
#include "media/network/tiny_server.hpp"
#include "saccade/error.hpp"
#include "support/temp_folder.hpp"

// Network streams that a GPU decodes.
namespace saccade {
namespace {

using test::GpuFrames;
using test::TinyRequest;
using test::TinyServer;

constexpr const char* kTransportStream = "video/mp2t";
constexpr int kClip = 20;

class NvdecNetwork : public testing::Test {
 protected:
  /// A transport stream of 20 frames, less than a backlog, with a key frame every 8, and what the CPU makes of it.
  std::string clip(const char* codec, const char* options = "g=8") {
    const std::string path = folder_ / "clip.ts";
    EXPECT_TRUE(test::encode_video(path, "mpegts", codec, kClip, "", {.options = options}));
    for (const test::Decoded& frame : test::play(path, Decoding::kCpu).frames) frames_.push_back(frame.samples);
    EXPECT_EQ(frames_.size(), std::size_t{kClip});
    return test::bytes_of_file(path);
  }
  /// BYTES without three packets behind the first key frame.
  static std::string with_loss(std::string bytes) {
    constexpr std::size_t kPacket = 188;
    bytes.erase(bytes.size() / 5 / kPacket * kPacket, 3 * kPacket);
    return bytes;
  }
  /// The index of FRAME in the clip; -1: it is none of its frames.
  std::ptrdiff_t index_of(const Frame& frame) const {
    const auto found = std::ranges::find(frames_, test::nv12_samples(host_view(frame)));
    return found == frames_.end() ? -1 : found - frames_.begin();
  }
  /// The next outcome that is not a pause. Numbers have no gaps.
  Outcome<Frame> next(FrameReader& reader) {
    while (true) {
      Outcome<Frame> outcome = reader.read(pool_);
      if (!outcome && outcome.failure().status == Status::kTimeout) continue;
      if (outcome) {
        EXPECT_EQ(outcome->sequence, counted_);
        EXPECT_GT(outcome->timestamp_ns, last_time_);
        last_time_ = outcome->timestamp_ns;
      }
      ++counted_;
      return outcome;
    }
  }

  test::TempFolder folder_;
  GpuFrames pool_{16};
  std::vector<std::vector<std::uint8_t>> frames_;
  std::int64_t counted_ = 0;
  std::int64_t last_time_ = -1;
};

TEST_F(NvdecNetwork, FramesAreThoseOfTheCpuOverReconnects) {
  for (const auto& [codec, options] :
       {std::pair{"libx264", "g=8"}, std::pair{"libx264", "g=8,bf=0"}, std::pair{"libx265", "g=8"}}) {
    SCOPED_TRACE(std::string(codec) + " " + options);
    frames_.clear();
    counted_ = 0;
    last_time_ = -1;
    const std::string bytes = clip(codec, options);
    const TinyServer server([&](const TinyRequest& request) { request.respond(kTransportStream, bytes); });
    const auto reader = open_reader(server.url("/a"), {.decode = Decoding::kAuto});
    std::ptrdiff_t last = -1;
    int shown = 0;
    for (int i = 0; i < 400 && shown < 30; ++i) {
      const Outcome<Frame> frame = next(*reader);
      if (!frame) continue;  // dropped, because all came at once
      const std::ptrdiff_t index = index_of(*frame);
      ASSERT_GE(index, 0) << "frame " << frame->sequence;
      EXPECT_EQ(frame->view.memory, MemoryKind::kDevice);
      ASSERT_NE(index, last);
      last = index;
      ++shown;
    }
    EXPECT_EQ(shown, 30);
    EXPECT_GE(reader->faults().restarts, 1);
  }
}

TEST_F(NvdecNetwork, AfterALossFramesAreCorruptUpToAKeyFrame) {
  const std::string bytes = with_loss(clip("libx264", "g=8,bf=0"));
  const TinyServer server([&](const TinyRequest& request) { request.respond(kTransportStream, bytes); });
  const auto reader = open_reader(server.url("/a"), {.decode = Decoding::kAuto});
  int corrupt = 0;
  int shown = 0;
  for (int i = 0; i < 400 && (corrupt == 0 || shown < 25); ++i) {
    const Outcome<Frame> frame = next(*reader);
    if (frame) {
      ASSERT_GE(index_of(*frame), 0) << "a frame that refers to a lost one, number " << frame->sequence;
      EXPECT_EQ(frame->view.memory, MemoryKind::kDevice);
      ++shown;
    } else {
      corrupt += frame.failure().status == Status::kCorrupt ? 1 : 0;
    }
  }
  EXPECT_GT(corrupt, 0);
  EXPECT_GE(shown, 25);
}

TEST_F(NvdecNetwork, AGpuThatFailsAtALossLeavesTheConnectionToTheCpu) {
  const test::EmulatedCalls nvcuvid("libnvcuvid.so.1");
  if (!nvcuvid) GTEST_SKIP() << "only the emulated GPU can be made to fail";
  const std::string bytes = with_loss(clip("libx264", "g=8,bf=0"));
  const TinyServer server([&](const TinyRequest& request) { request.respond(kTransportStream, bytes); });
  const auto reader = open_reader(server.url("/a"), {.decode = Decoding::kAuto});
  int on_gpu = 0;
  int on_cpu = 0;
  for (int i = 0; i < 60; ++i) {
    const Outcome<Frame> frame = next(*reader);
    if (frame) {
      ASSERT_GE(index_of(*frame), 0) << "frame " << frame->sequence;
      ++(frame->view.memory == MemoryKind::kDevice ? on_gpu : on_cpu);
      if (on_gpu == 1 && on_cpu == 0) nvcuvid.fail("cuvidCreateVideoParser", 0, 999);
    } else {
      ASSERT_EQ(frame.failure().status, Status::kCorrupt) << frame.failure().message;
    }
  }
  EXPECT_GT(on_cpu, 0);
  EXPECT_GT(on_gpu, 20) << "the next connection begins on the GPU";
}

TEST_F(NvdecNetwork, WhatTheGpuCanNotDecodeIsRefusedOrForTheCpu) {
  const std::string path = folder_ / "clip.ts";
  ASSERT_TRUE(test::encode_video(path, "mpegts", "mpeg2video", 20));
  const std::string bytes = test::bytes_of_file(path);
  const TinyServer server([&](const TinyRequest& request) { request.respond(kTransportStream, bytes); });
  try {
    open_reader(server.url("/a?token=hush"), {.decode = Decoding::kCuda});
    ADD_FAILURE() << "it is opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("mpeg2video is decoded by the CPU"));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("hush")));
  }
  const auto reader = open_reader(server.url("/a"), {.decode = Decoding::kAuto});
  Outcome<Frame> frame = reader->read(pool_);
  while (!frame) frame = reader->read(pool_);
  EXPECT_EQ(frame->view.memory, MemoryKind::kPlain);
}

TEST_F(NvdecNetwork, AFrameWithoutABufferIsCounted) {
  const std::string bytes = clip("libx264", "g=8,bf=0");
  const TinyServer server([&](const TinyRequest& request) { request.respond(kTransportStream, bytes); });
  const auto reader = open_reader(server.url("/a"), {.decode = Decoding::kAuto});
  GpuFrames few(3);
  std::vector<Frame> held;
  bool was_dropped = false;
  for (int i = 0; i < 400 && !was_dropped; ++i) {
    Outcome<Frame> frame = reader->read(few);
    was_dropped = !frame && frame.failure().status == Status::kNoBuffer;
    if (frame) held.push_back(std::move(*frame));
  }
  EXPECT_TRUE(was_dropped);
  EXPECT_EQ(held.size(), 3U);
}

}  // namespace
}  // namespace saccade
