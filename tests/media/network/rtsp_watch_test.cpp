#include "media/network/rtsp_watch.hpp"

#include <gtest/gtest.h>

namespace saccade::network {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kSilence{300};

class RtspWatchTest : public ::testing::Test {
 protected:
  /// The client opens the session, whose responses are whole.
  void open() {
    watch.begin(kSilence);
    for (const char* method : {"OPTIONS", "DESCRIBE", "SETUP", "PLAY"}) {
      watch.hear_request(std::string(method) + " rtsp://host/a RTSP/1.0\r\nCSeq: 1\r\n\r\n", now);
      hear({"RTSP/1.0 200 OK", "CSeq: 1", "Server: \xC3\x9C\tbox", ""});
    }
    watch.open();
  }

  /// The lines of a message, which come at NOW.
  void hear(std::initializer_list<const char*> lines) {
    for (const char* line : lines) watch.hear_line(line, now);
  }

  bool is_damaged_after(milliseconds pause) const { return watch.is_damaged(now + pause); }

  RtspWatch watch;
  Clock::time_point now = Clock::now();
};

TEST_F(RtspWatchTest, SilenceIsNoDamage) {
  hear({"\x01\x02"});
  EXPECT_FALSE(is_damaged_after(seconds(0))) << "no session has begun";
  open();
  EXPECT_FALSE(is_damaged_after(seconds(100)));
  for (const int length : {4000, 1400, 12, 4096}) watch.hear_packet(0, length, now);
  EXPECT_FALSE(is_damaged_after(seconds(100))) << "of usual length: a link may be slow";
}

TEST_F(RtspWatchTest, MessagesBetweenPacketsAreNoDamage) {
  open();
  watch.hear_packet(0, 1400, now);
  hear({"RTSP/1.0 200 OK", "CSeq: 5", ""});
  EXPECT_FALSE(is_damaged_after(seconds(100)));
  hear({"", "GET_PARAMETER rtsp://host/a RTSP/1.0", "CSeq: 6", ""});
  EXPECT_FALSE(is_damaged_after(seconds(100)));
}

TEST_F(RtspWatchTest, VideoThatIsTakenForTextIsDamageAtOnce) {
  for (const char* line : {"a", "$\x01", "RTSP/1.0 \x7F", "\xFF\xFE"}) {
    open();
    hear({line});
    EXPECT_TRUE(is_damaged_after(seconds(0))) << line;
  }
  open();
  hear({"RTSP/1.0 200 OK", "CSeq: \x05"});
  EXPECT_TRUE(is_damaged_after(seconds(0)));
  watch.begin(kSilence);
  EXPECT_FALSE(is_damaged_after(seconds(100))) << "of the session before";
}

TEST_F(RtspWatchTest, TheRestOfAMessageIsDue) {
  open();
  hear({"RTSP/1.0 200 OK", "CSeq: 5"});
  EXPECT_FALSE(is_damaged_after(RtspWatch::kRest));
  EXPECT_TRUE(is_damaged_after(RtspWatch::kRest + milliseconds(1)));
  hear({""});
  EXPECT_FALSE(is_damaged_after(seconds(100)));
}

TEST_F(RtspWatchTest, SoIsTheContentOfADescription) {
  watch.begin(kSilence);
  watch.hear_request("DESCRIBE rtsp://host/a RTSP/1.0\r\n\r\n", now);
  EXPECT_FALSE(is_damaged_after(seconds(100))) << "a server may be slow";
  hear({"RTSP/1.0 200 OK", "Content-Length: 900", ""});
  EXPECT_TRUE(is_damaged_after(RtspWatch::kRest + milliseconds(1)));
  watch.hear_request("SETUP rtsp://host/a/v RTSP/1.0\r\n\r\n", now);
  EXPECT_FALSE(is_damaged_after(seconds(100)));
  hear({"RTSP/1.0 200 OK", ""});
  EXPECT_FALSE(is_damaged_after(seconds(100)));
}

TEST_F(RtspWatchTest, DamageStays) {
  open();
  hear({"RTSP/1.0 200 OK"});
  now += RtspWatch::kRest + milliseconds(1);
  watch.hear_request("TEARDOWN rtsp://host/a RTSP/1.0\r\n\r\n", now);
  hear({"RTSP/1.0 200 OK", ""});
  watch.hear_packet(0, 100, now);
  EXPECT_TRUE(is_damaged_after(seconds(0)));
}

TEST_F(RtspWatchTest, SoIsAPacketLongerThanAllBefore) {
  watch.begin(kSilence);
  watch.hear_packet(0, 20'000, now);
  EXPECT_FALSE(is_damaged_after(seconds(100))) << "what is usual is not known yet";
  watch.open();
  watch.hear_packet(0, 20'000, now);
  EXPECT_FALSE(is_damaged_after(seconds(100)));
  watch.hear_packet(0, 60'000, now);
  EXPECT_FALSE(is_damaged_after(RtspWatch::kRest));
  EXPECT_TRUE(is_damaged_after(RtspWatch::kRest + milliseconds(1)));
  watch.hear_packet(0, 60'000, now);
  EXPECT_FALSE(is_damaged_after(seconds(100))) << "the one before was whole";
}

TEST_F(RtspWatchTest, RtpThatStopsWhileTheSessionIsOpenedIsSilence) {
  watch.begin(kSilence);
  EXPECT_FALSE(watch.is_silent(now + seconds(100))) << "a server may begin with its next key frame";
  watch.hear_packet(1, 52, now);
  EXPECT_FALSE(watch.is_silent(now + seconds(100))) << "and send its report before";
  watch.hear_packet(0, 1400, now);
  now += kSilence;
  watch.hear_packet(1, 52, now);
  EXPECT_FALSE(watch.is_silent(now));
  EXPECT_TRUE(watch.is_silent(now + milliseconds(1)));
  EXPECT_FALSE(watch.is_damaged(now + milliseconds(1)));
  watch.open();
  EXPECT_FALSE(watch.is_silent(now + seconds(100))) << "one that is open may pause";
  watch.begin(kSilence);
  EXPECT_FALSE(watch.is_silent(now + seconds(100))) << "of the session before";
}

TEST_F(RtspWatchTest, MeasuresTheLongestSilenceUntilTheSessionIsOpen) {
  watch.begin(seconds(5));
  for (const int pause : {0, 40, 200, 10}) watch.hear_packet(0, 1400, now += milliseconds(pause));
  watch.open();
  watch.hear_packet(0, 1400, now + seconds(3));
  EXPECT_EQ(watch.longest_silence(), milliseconds(200));
  watch.begin(seconds(5));
  EXPECT_EQ(watch.longest_silence(), milliseconds(0));
}

}  // namespace
}  // namespace saccade::network
