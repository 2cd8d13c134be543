#include "ffmpeg/sender_time.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace saccade {
namespace {

constexpr AVRational kUnit{1, 90'000};
constexpr std::int64_t kFrame = 3'600;                 // 40 ms in units
constexpr std::int64_t kSent = 1'700'000'000'000'000;  // microseconds since 1970: when frame 0 was captured
constexpr std::int64_t kOffset = kSent * 1000;         // of frame I, which is presented after 40 ms * I

/// Frame I with the time that FFmpeg attaches to its packet; none below 0.
AvPacket packet_of(std::int64_t i, std::int64_t microseconds) {
  AvPacket packet(av_packet_alloc());
  packet->pts = i * kFrame;
  if (microseconds < 0) return packet;
  const AVProducerReferenceTime time{.wallclock = microseconds, .flags = 0};
  std::memcpy(av_packet_new_side_data(packet.get(), AV_PKT_DATA_PRFT, sizeof time), &time, sizeof time);
  return packet;
}

/// JPEG images are whole payloads: the time is that of the packet.
TEST(SenderTime, IsThatOfThePacketWithoutAParser) {
  SenderTime sender;
  sender.restart(AV_CODEC_ID_MJPEG);
  EXPECT_EQ(sender.offset_at(*packet_of(0, -1), kUnit), std::nullopt) << "before the first report";
  for (int i = 1; i < 5; ++i) EXPECT_EQ(sender.offset_at(*packet_of(i, kSent + 40'000 * i), kUnit), kOffset) << i;
}

/// FFmpeg notices the end of a frame when the next one begins, and attaches that one's time.
TEST(SenderTime, IsThatOfTheNextPacketWithAParser) {
  SenderTime sender;
  sender.restart(AV_CODEC_ID_H264);
  EXPECT_EQ(sender.offset_at(*packet_of(0, kSent + 40'000), kUnit), std::nullopt);
  for (int i = 1; i < 5; ++i) EXPECT_EQ(sender.offset_at(*packet_of(i, kSent + 40'000 * (i + 1)), kUnit), kOffset) << i;
}

TEST(SenderTime, HoldsUntilTheNextReport) {
  SenderTime sender;
  sender.restart(AV_CODEC_ID_MJPEG);
  EXPECT_EQ(sender.offset_at(*packet_of(0, kSent), kUnit), kOffset);
  EXPECT_EQ(sender.offset_at(*packet_of(1, -1), kUnit), kOffset);
  // The sender's clock is set by a second.
  EXPECT_EQ(sender.offset_at(*packet_of(2, kSent + 1'080'000), kUnit), kOffset + 1'000'000'000);
}

TEST(SenderTime, AnotherConnectionKnowsNone) {
  SenderTime sender;
  sender.restart(AV_CODEC_ID_MJPEG);
  EXPECT_EQ(sender.offset_at(*packet_of(0, kSent), kUnit), kOffset);
  sender.restart(AV_CODEC_ID_H264);
  EXPECT_EQ(sender.offset_at(*packet_of(1, kSent), kUnit), std::nullopt);
}

TEST(SenderTime, IgnoresTimesThatAreNone) {
  SenderTime sender;
  sender.restart(AV_CODEC_ID_MJPEG);
  EXPECT_EQ(sender.offset_at(*packet_of(0, std::int64_t{1} << 60), kUnit), std::nullopt);
  const AvPacket short_data = packet_of(1, -1);
  av_packet_new_side_data(short_data.get(), AV_PKT_DATA_PRFT, 4);
  EXPECT_EQ(sender.offset_at(*short_data, kUnit), std::nullopt);
  const AvPacket without_time = packet_of(2, kSent);
  without_time->pts = AV_NOPTS_VALUE;
  EXPECT_EQ(sender.offset_at(*without_time, kUnit), std::nullopt);
}

}  // namespace
}  // namespace saccade
