#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "media/encode.hpp"
#include "media/network/tiny_rtsp.hpp"
#include "media/source_list.hpp"
#include "saccade/error.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::TinyRequest;
using test::TinyRtsp;
using test::TinyServer;

/// Damage within a session that goes on. Its timeout is an hour: the tests would not end by it.
class RtspDamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder / "clip.m1v";
    ASSERT_TRUE(test::encode_video(path, "mpeg1video", "mpeg1video", 100));
    frames = TinyRtsp::frames_of(test::bytes_of_file(path));
    ASSERT_EQ(frames.size(), 100U);
  }

  static std::string uri_of(const TinyServer& server) {
    return "rtsp://127.0.0.1:" + std::to_string(server.port()) + "/a#timeout=3600s";
  }

  /// Sends the frames from FIRST to LAST, faster than their rate, until the client closes the connection.
  void send_frames(const TinyRequest& request, int first, int last) const {
    for (int i = first; i < last; ++i) {
      const std::string packet = TinyRtsp::packet(i, frames[static_cast<std::size_t>(i) % frames.size()]);
      if (::send(request.socket, packet.data(), packet.size(), MSG_NOSIGNAL) <= 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  /// Reads until frames come from a connection that was opened again: why it was.
  std::string reason_for_opening(const std::string& uri) {
    const auto reader = open_source(uri, {});
    std::string why;
    while (true) {
      const Outcome<Frame> outcome = reader->read(pool);
      if (outcome && !why.empty()) return why;
      if (!outcome && outcome.failure().status == Status::kTimeout && why.empty()) why = outcome.failure().message;
    }
  }

  test::TempFolder folder;
  test::FramePool pool;
  std::vector<std::string> frames;
};

TEST_F(RtspDamageTest, WhereTheBordersOfPacketsAreLostItIsOpenedAgain) {
  for (const std::string& damaged : {std::string("?\0\5\0", 4), std::string("$\0\0\4abcd", 8)}) {
    const TinyServer server([&](const TinyRequest& request) {
      TinyRtsp(request).play();
      if (request.number == 0) {
        send_frames(request, 0, 30);
        request.send(damaged);
      }
      send_frames(request, request.number == 0 ? 30 : 0, 10'000);
    });
    EXPECT_NE(reason_for_opening(uri_of(server)).find("its data is damaged"), std::string::npos);
  }
}

TEST_F(RtspDamageTest, APacketWhoseEndDoesNotComeIsNotWaitedFor) {
  const TinyServer server([&](const TinyRequest& request) {
    TinyRtsp(request).play();
    if (request.number > 0) return send_frames(request, 0, 10'000);
    send_frames(request, 0, 30);
    request.send({"$\0\xFF\xFF", 4});
    request.wait_for_end();
  });
  EXPECT_NE(reason_for_opening(uri_of(server)).find("its data is damaged"), std::string::npos);
}

TEST_F(RtspDamageTest, ADamagedResponseIsNamed) {
  for (const auto& [method, end] : {std::pair("OPTIONS", "\r\nSession"), std::pair("DESCRIBE", "a=control"),
                                    std::pair("SETUP", "Session"), std::pair("PLAY", "\r\n\r\n")}) {
    const TinyServer server([method = method, end = end](const TinyRequest& request) {
      TinyRtsp(request).play(method, end);
      request.wait_for_end();
    });
    try {
      open_source(uri_of(server), {});
      ADD_FAILURE() << "it opens";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      EXPECT_NE(std::string(error.what()).find("the received data is damaged or not rtsp"), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(RtspDamageTest, APauseIsNoDamage) {
  const TinyServer server([&](const TinyRequest& request) {
    TinyRtsp(request).play();
    send_frames(request, 0, 30);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    send_frames(request, 30, 10'000);
  });
  const auto reader = open_source(uri_of(server), {});
  int count = 0;
  while (count < 60)
    if (reader->read(pool)) ++count;
  EXPECT_EQ(reader->faults().restarts, 0);
}

}  // namespace
}  // namespace saccade
