#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "media/encode.hpp"
#include "media/network/tiny_server.hpp"
#include "media/source_list.hpp"
#include "saccade/error.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::TinyRequest;
using test::TinyServer;

constexpr const char* kTransportStream = "video/mp2t";

/// Transport streams of 160x128 pixels at 25 frames per second.
class NetworkReaderTest : public ::testing::Test {
 protected:
  std::string stream_of(int frames) {
    const std::string path = folder / ("clip" + std::to_string(frames) + ".ts");
    EXPECT_TRUE(test::encode_video(path, "mpegts", "mpeg2video", frames));
    return test::bytes_of_file(path);
  }

  /// Reads the next outcome that is not a pause, and counts it.
  Outcome<Frame> next(FrameReader& reader) {
    while (true) {
      Outcome<Frame> outcome = reader.read(pool);
      if (outcome) {
        EXPECT_EQ(outcome->sequence, counted) << "every frame has been delivered or reported";
        EXPECT_GT(outcome->timestamp_ns, last_time);
        last_time = outcome->timestamp_ns;
      } else if (outcome.failure().status == Status::kTimeout) {
        if (!outcome.failure().message.empty()) pauses.push_back(outcome.failure().message);
        continue;
      }
      ++counted;
      return outcome;
    }
  }

  std::string error_of(const std::string& uri, ErrorCode code) {
    try {
      open_source(uri, {});
      return "it opens";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
  }

  void expect_part_of(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  test::TempFolder folder;
  test::FramePool pool;
  std::int64_t counted = 0;
  std::int64_t last_time = -1;
  std::vector<std::string> pauses;
};

TEST_F(NetworkReaderTest, AStreamThatIsClosedIsOpenedAgainAndGoesOn) {
  const std::string clip = stream_of(20);
  const TinyServer server([&](const TinyRequest& request) { request.respond(kTransportStream, clip); });
  const auto reader = open_source(server.url("/a?token=hush", "viewer:hush@"), {});
  EXPECT_TRUE(reader->info().live);
  EXPECT_EQ(reader->info().name, server.url("/a?token=***", "viewer:***@"));
  EXPECT_EQ(reader->info().width, 160);
  EXPECT_EQ(reader->info().height, 128);
  EXPECT_NEAR(reader->info().frame_rate, 25, 0.01);
  int frames = 0;
  while (frames < 50) {
    const Outcome<Frame> outcome = next(*reader);
    if (!outcome) continue;
    ++frames;
    EXPECT_EQ(outcome->view.width, 160);
    EXPECT_TRUE(outcome->captured_at);
    EXPECT_FALSE(outcome->exposed) << "its sender's clock is unknown";
  }
  EXPECT_GE(reader->faults().restarts, 2);
  ASSERT_FALSE(pauses.empty());
  expect_part_of(pauses.front(), "it is opened again");
  for (const std::string& pause : pauses) EXPECT_EQ(pause.find("hush"), std::string::npos) << pause;
}

TEST_F(NetworkReaderTest, ADecoderThatIsBehindGoesOnAtAKeyFrame) {
  const std::string burst = stream_of(200);
  const std::string clip = stream_of(20);
  std::atomic<bool> is_sent = false;
  const TinyServer server([&](const TinyRequest& request) {
    request.respond(kTransportStream, request.number == 1 ? burst : clip);
    if (request.number == 1) is_sent = true;
  });
  const auto reader = open_source(server.url("/a"), {});
  EXPECT_TRUE(next(*reader));
  while (!is_sent) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  std::int64_t behind = 0;
  while (behind == 0 || counted < 210) {
    const Outcome<Frame> outcome = next(*reader);
    if (!outcome && outcome.failure().status == Status::kBehind) ++behind;
  }
  EXPECT_LE(behind, 220) << "eight seconds came at once";
}

TEST_F(NetworkReaderTest, AFrameWithoutABufferIsCounted) {
  const std::string clip = stream_of(20);
  const TinyServer server([&](const TinyRequest& request) { request.respond(kTransportStream, clip); });
  const auto reader = open_source(server.url("/a"), {});
  std::vector<Frame> held;
  while (true) {
    Outcome<Frame> outcome = next(*reader);
    if (!outcome) {
      EXPECT_EQ(outcome.failure().status, Status::kNoBuffer);
      break;
    }
    held.push_back(std::move(*outcome));
    ASSERT_LT(held.size(), 15U) << "the pool has fewer buffers";
  }
  held.clear();
  EXPECT_TRUE(next(*reader));
}

TEST_F(NetworkReaderTest, WhatIsWrongIsNamed) {
  const TinyServer server([&](const TinyRequest& request) {
    if (request.asks("/missing")) return request.refuse("404 Not Found");
    if (request.asks("/closed")) return request.refuse("401 Unauthorized");
    if (request.asks("/page"))
      return request.send("HTTP/1.0 200 OK\r\nContent-Length: 10000\r\n\r\n" + std::string(10'000, '<'));
    request.wait_for_end();
  });
  expect_part_of(error_of(server.url("/missing"), ErrorCode::kNotFound), "no such stream: check the path");
  const std::string refusal = error_of(server.url("/closed", "viewer:hush@"), ErrorCode::kDevice);
  expect_part_of(refusal, "refuses the login");
  EXPECT_EQ(refusal.find("hush"), std::string::npos) << refusal;
  expect_part_of(error_of(server.url("/page"), ErrorCode::kInvalidFile), "is not a supported stream over http");
  expect_part_of(error_of(server.url("/silent#timeout=300ms"), ErrorCode::kIo), "no data was received within 0.3 s");
  expect_part_of(error_of("http://127.0.0.1:1/a", ErrorCode::kIo), "Connection refused");
  expect_part_of(error_of(server.url("/a#time=1"), ErrorCode::kInvalidArgument), "no option 'time'");
}

TEST_F(NetworkReaderTest, APlaylistOpensNoFile) {
  stream_of(20);
  const std::string file = folder / "clip20.ts";
  std::string segment;
  const TinyServer server([&](const TinyRequest& request) {
    request.respond("application/vnd.apple.mpegurl",
                    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + segment + "\n#EXT-X-ENDLIST\n");
  });
  for (const std::string& address : {"file://" + file, "file:" + file, "concat:" + file,
                                     "subfile,,start,0,end,100000,,:" + file, "crypto:" + file, "async:" + file}) {
    segment = address;
    EXPECT_THROW(open_source(server.url("/a.m3u8#timeout=1s"), {}), Error) << address;
  }
}

TEST_F(NetworkReaderTest, AStreamMayBeAwayAtFirst) {
  const std::string clip = stream_of(20);
  const int port = TinyServer([](const TinyRequest&) {}).port();
  const std::string uri = "http://127.0.0.1:" + std::to_string(port) + "/a";
  const auto reader = open_source(uri, {.wait_for_source = true});
  EXPECT_TRUE(reader->info().live);
  EXPECT_EQ(reader->info().width, 0);
  EXPECT_EQ(reader->info().frame_rate, 0);
  const Outcome<Frame> none = reader->read(pool);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.failure().status, Status::kTimeout);
  expect_part_of(none.failure().message, "Connection refused");
  const TinyServer server([&](const TinyRequest& request) { request.respond(kTransportStream, clip); }, port);
  EXPECT_TRUE(next(*reader));
  EXPECT_EQ(reader->info().width, 0) << "it does not change";
  EXPECT_THROW(open_source(uri + "#a=b", {.wait_for_source = true}), Error);
}

TEST_F(NetworkReaderTest, CancellingEndsTheWait) {
  const std::string clip = stream_of(40);
  const TinyServer server([&](const TinyRequest& request) {
    request.respond(kTransportStream, clip);
    request.wait_for_end();
  });
  const auto reader = open_source(server.url("/a#timeout=3600s"), {});
  while (!next(*reader)) {
  }
  Status status = Status::kEnd;
  std::thread thread([&] {
    do {
      const Outcome<Frame> outcome = reader->read(pool);
      status = outcome ? Status::kTimeout : outcome.failure().status;
    } while (status == Status::kTimeout);
  });
  reader->cancel();
  thread.join();
  EXPECT_EQ(status, Status::kCancelled);
  EXPECT_EQ(reader->read(pool).failure().status, Status::kCancelled);
}

TEST_F(NetworkReaderTest, AStreamThatEndsInSilenceIsOpenedAgain) {
  const std::string clip = stream_of(40);
  const TinyServer server([&](const TinyRequest& request) {
    request.respond(kTransportStream, clip);
    request.wait_for_end();
  });
  const auto reader = open_source(server.url("/a#timeout=500ms"), {});
  while (reader->faults().restarts < 2) static_cast<void>(next(*reader));
  ASSERT_FALSE(pauses.empty());
  expect_part_of(pauses.front(), "no video for 0.5 s");
}

}  // namespace
}  // namespace saccade
