#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "media/isolated/child_clock.hpp"
#include "media/isolated/received.hpp"
#include "media/isolated/restarts.hpp"

// What a child sends is checked before it is used.
namespace saccade::isolated {
namespace {

constexpr FrameLimits kLimits{.generation = 3, .buffers = 4, .capacity = 64 * 40, .next = 10};

template <typename Body>
Packet packet_of(const Body& body, const std::string& text = {}) {
  Packet packet;
  packet.header.kind = Body::kKind;
  packet.header.text = static_cast<std::uint32_t>(text.size());
  std::memcpy(packet.bytes.data(), &body, sizeof body);
  std::memcpy(packet.bytes.data() + sizeof body, text.data(), text.size());
  packet.size = sizeof body + text.size();
  return packet;
}

/// 10x8 pixels I420.
FrameHead a_frame() {
  const std::int64_t now = nanoseconds(Clock::now());
  return {.generation = 3,
          .index = 2,
          .width = 10,
          .height = 8,
          .format = static_cast<std::uint8_t>(PixelFormat::kI420),
          .pitch_bytes = {64, 64, 64},
          .offset = {0, 512, 768},
          .sequence = 12,
          .timestamp_ns = -5,
          .image_id = -1,
          .captured = now - 1000,
          .capture_time = 500};
}

bool accepts(const FrameHead& head, const std::string& name = "a.jpg") {
  try {
    read_frame(packet_of(head, name), kLimits, Clock::now());
    return true;
  } catch (const BadMessage&) {
    return false;
  }
}

TEST(IsolatedMessages, AFrameIsReadAsItIs) {
  FrameHead head = a_frame();
  head.has_exposed = 1;
  head.exposed = head.captured - 700;
  head.has_captured_at = 1;
  head.captured_at = 1'700'000'000'123'456'789;
  const ReceivedFrame received = read_frame(packet_of(head), kLimits, Clock::now());
  EXPECT_EQ(received.index, 2U);
  EXPECT_EQ(received.offset[2], 768U);
  EXPECT_EQ(received.frame.view.format, PixelFormat::kI420);
  EXPECT_EQ(received.frame.view.width, 10);
  EXPECT_EQ(received.frame.sequence, 12);
  EXPECT_EQ(received.frame.timestamp_ns, -5);
  EXPECT_EQ(received.frame.capture_time.count(), 500);
  EXPECT_EQ((received.frame.captured - *received.frame.exposed).count(), 700);
  EXPECT_EQ(std::chrono::nanoseconds(received.frame.captured_at->time_since_epoch()).count(), head.captured_at);
}

TEST(IsolatedMessages, AFrameMustLieInABufferOfTheChild) {
  EXPECT_TRUE(accepts(a_frame()));
  const auto with = [](auto change) {
    FrameHead head = a_frame();
    change(head);
    return accepts(head);
  };
  EXPECT_TRUE(with([](FrameHead& head) { head.offset[2] = kLimits.capacity - (3 * 64 + 5); })) << "its last byte fits";
  EXPECT_FALSE(with([](FrameHead& head) { head.offset[2] = kLimits.capacity - (3 * 64 + 4); }));
  EXPECT_FALSE(with([](FrameHead& head) { head.offset[1] = std::numeric_limits<std::uint64_t>::max(); }));
  EXPECT_FALSE(with([](FrameHead& head) { head.pitch_bytes[0] = 9; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.pitch_bytes[1] = -64; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.pitch_bytes[1] = std::numeric_limits<int>::max(); }));
  EXPECT_FALSE(with([](FrameHead& head) { head.width = std::numeric_limits<int>::max(); }));
  EXPECT_FALSE(with([](FrameHead& head) { head.height = 0; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.height = 1 << 28; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.generation = 2; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.index = 4; }));
}

TEST(IsolatedMessages, EnumeratorsNumbersAndTimesMustBePossible) {
  const auto with = [](auto change) {
    FrameHead head = a_frame();
    change(head);
    return accepts(head);
  };
  EXPECT_FALSE(with([](FrameHead& head) { head.format = kPixelFormats.size(); }));
  EXPECT_FALSE(with([](FrameHead& head) { head.matrix = 3; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.range = 2; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.has_exposed = 2; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.has_captured_at = 2; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.captured_at = -1; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.sequence = 9; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.sequence = std::numeric_limits<std::int64_t>::max(); }));
  EXPECT_FALSE(with([](FrameHead& head) { head.image_id = -2; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.captured += 1'000'000'000'000; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.captured = -1; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.capture_time = -1; }));
  EXPECT_FALSE(with([](FrameHead& head) { head.exposed = head.captured + 1, head.has_exposed = 1; }));
  EXPECT_FALSE(accepts(a_frame(), std::string("a\0b", 3)));
}

TEST(IsolatedMessages, ASourceMustBePossible) {
  const auto accepts_hello = [](auto change) {
    Hello hello{.files = 2, .width = 640, .height = 480, .live = 1, .frame_rate = 30, .frames = -1};
    change(hello);
    try {
      const ReceivedHello received = read_hello(packet_of(hello, "camera"));
      return received.info.name == "camera" && received.files == 2 && received.info.live;
    } catch (const BadMessage&) {
      return false;
    }
  };
  EXPECT_TRUE(accepts_hello([](Hello&) {}));
  EXPECT_FALSE(accepts_hello([](Hello& hello) { hello.live = 2; }));
  EXPECT_FALSE(accepts_hello([](Hello& hello) { hello.width = -1; }));
  EXPECT_FALSE(accepts_hello([](Hello& hello) { hello.frames = -2; }));
  EXPECT_FALSE(accepts_hello([](Hello& hello) { hello.files = ~0U; }));
  EXPECT_FALSE(accepts_hello([](Hello& hello) { hello.frame_rate = std::numeric_limits<double>::quiet_NaN(); }));
}

TEST(IsolatedMessages, OtherMessagesHaveKnownValues) {
  EXPECT_THROW(read_failure(packet_of(Absence{.status = 8})), BadMessage);
  EXPECT_EQ(read_failure(packet_of(Absence{.status = 3}, "why")).message, "why");
  EXPECT_THROW(read_error(packet_of(Fault{.code = 99})), BadMessage);
  EXPECT_THROW(read_log(packet_of(LogLine{.level = 4})), BadMessage);
  EXPECT_THROW(read_need(packet_of(Need{.bytes = 0})), BadMessage);
  EXPECT_THROW(read_need(packet_of(Need{.bytes = ~0ULL})), BadMessage);
  EXPECT_THROW(read_name(packet_of(Name{.index = 1}, "b"), 0), BadMessage);
  EXPECT_THROW(read_need(packet_of(Name{.index = 1})), BadMessage) << "another kind";
}

/// Calls every reader with PACKET; returns the planes' ends of an accepted frame.
std::uint64_t read_all_kinds(const Packet& packet) {
  const auto attempt = [](auto read) {
    try {
      read();
    } catch (const BadMessage&) {
    }
  };
  std::uint64_t end = 0;
  attempt([&] { read_hello(packet); });
  attempt([&] { read_name(packet, 0); });
  attempt([&] { static_cast<void>(read_error(packet)); });
  attempt([&] { read_need(packet); });
  attempt([&] { read_failure(packet); });
  attempt([&] { read_log(packet); });
  attempt([&] {
    const ReceivedFrame received = read_frame(packet, kLimits, Clock::now());
    const FrameView& view = received.frame.view;
    const auto sizes = plane_sizes(view.format, view.width, view.height);
    for (std::size_t i = 0; i < 3; ++i)
      if (sizes[i].rows > 0)
        end = std::max(end, received.offset[i] + static_cast<std::uint64_t>(view.pitch_bytes[i]) * (sizes[i].rows - 1) +
                                static_cast<std::uint64_t>(sizes[i].row_bytes));
  });
  return end;
}

TEST(IsolatedMessages, RandomBytesAreRefusedOrHarmless) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    Packet packet = packet_of(a_frame(), "name");
    packet.header.kind = static_cast<Kind>(random() % 16);
    const std::size_t changes = 1 + random() % 8;
    for (std::size_t i = 0; i < changes; ++i) {
      // Small and large values of every field.
      const std::size_t at = random() % packet.size;
      packet.bytes[at] = static_cast<std::byte>(random() % 4 == 0 ? random() : 0xFF * (random() % 2));
    }
    if (random() % 2 == 0) packet.header.kind = Kind::kFrame;
    if (random() % 8 == 0) packet.size = packet.header.text + random() % 256;
    EXPECT_LE(read_all_kinds(packet), kLimits.capacity);
  }
}

TEST(Restarts, AFilesNumbersStay) {
  Restarts restarts(false);
  EXPECT_EQ(restarts.deliver(0), 0);
  restarts.deliver_nothing();
  EXPECT_EQ(restarts.deliver(2), 2);
  restarts.die();
  EXPECT_EQ(restarts.delivered(), 3);
  EXPECT_EQ(restarts.next_of_child(), 3);
  EXPECT_EQ(restarts.deliver(3), 3);
}

TEST(Restarts, ACamerasNumbersGoOn) {
  Restarts restarts(true);
  EXPECT_EQ(restarts.deliver(7), 7);
  restarts.deliver_nothing();
  restarts.die();
  EXPECT_EQ(restarts.delivered(), 0);
  EXPECT_EQ(restarts.next_of_child(), 0);
  EXPECT_EQ(restarts.deliver(0), 10) << "8 had no buffer, 9 was being read";
  EXPECT_EQ(restarts.deliver(2), 12);
  restarts.die();
  restarts.die();
  EXPECT_EQ(restarts.deliver(5), 14) << "one frame, however often it dies";
}

TEST(Restarts, ThePauseGrowsToASecond) {
  Restarts restarts(true);
  std::vector<std::int64_t> pauses;
  for (int i = 0; i < 9; ++i) {
    restarts.die();
    pauses.push_back(restarts.pause().count());
  }
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{0, 100, 200, 400, 800, 1000, 1000, 1000, 1000}));
  EXPECT_FALSE(restarts.is_stuck()) << "a camera may come back";
  restarts.deliver(0);
  restarts.die();
  EXPECT_EQ(restarts.pause().count(), 0);
}

TEST(Restarts, AFrameIsSkippedAfterThreeDeaths) {
  Restarts restarts(false);
  restarts.deliver(0);
  for (int i = 0; i < 2; ++i) restarts.die();
  EXPECT_FALSE(restarts.is_stuck());
  restarts.die();
  EXPECT_TRUE(restarts.is_stuck());
  EXPECT_EQ(restarts.skip(-1), 1);
  EXPECT_FALSE(restarts.is_stuck());
  EXPECT_EQ(restarts.delivered(), 2);
  EXPECT_EQ(restarts.skipped(), std::vector<std::int64_t>{1});
}

TEST(ChildClock, TimestampsOfAStreamGoOn) {
  constexpr std::int64_t kMs = 1'000'000;
  const Clock::time_point start(std::chrono::hours(1));
  const auto at = [start](int ms) { return start + std::chrono::milliseconds(ms); };
  ChildClock clock;
  EXPECT_EQ(clock.stamp(0, at(0)), 0);
  EXPECT_EQ(clock.stamp(40 * kMs, at(45)), 40 * kMs);
  clock.restart();
  EXPECT_EQ(clock.stamp(0, at(345)), 340 * kMs) << "away for 300 ms";
  EXPECT_EQ(clock.stamp(40 * kMs, at(385)), 380 * kMs);
  for (int i = 0; i < 3; ++i) clock.restart();
  EXPECT_EQ(clock.stamp(0, at(485)), 480 * kMs);
}

TEST(ChildClock, ACamerasClockCountsOn) {
  const Clock::time_point now(std::chrono::hours(1));
  ChildClock clock;
  clock.restart();
  EXPECT_EQ(clock.stamp(-7, now), -7) << "nothing was before it";
  EXPECT_EQ(clock.stamp(500, now), 500);
  clock.restart();
  EXPECT_EQ(clock.stamp(501, now), 501);
}

TEST(ChildClock, AnyTimestampCanBeSent) {
  const Clock::time_point now(std::chrono::hours(1));
  ChildClock clock;
  for (const std::int64_t stamp :
       {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(clock.stamp(stamp, now), stamp);
    clock.stamp(0, now + std::chrono::hours(1));
  }
  clock.restart();
  EXPECT_EQ(clock.stamp(std::numeric_limits<std::int64_t>::min(), now + std::chrono::hours(2)), 3'600'000'000'000);
}

}  // namespace
}  // namespace saccade::isolated
