#include "media/network/uri.hpp"

#include <gtest/gtest.h>

#include "saccade/error.hpp"

namespace saccade::network {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string refused_uri(const std::string& uri) {
  try {
    parse_stream(uri);
    ADD_FAILURE() << uri << " was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return {};
}

TEST(NetworkUri, KnowsItsSchemes) {
  for (const char* uri : {"rtsp://a/b", "rtsps://a", "rtmp://a/b", "rtmps://a/b", "srt://a:1", "udp://@:1234",
                          "http://a/b.m3u8", "https://a", "RTSP://a"})
    EXPECT_TRUE(is_network(uri)) << uri;
  for (const char* uri : {"", "a.mp4", "file:///a", "rtp://a:1", "tcp://a:1", "s3://a", "concat:http://a", "rtsp:a",
                          "synthetic:?a=http://b", "/rtsp://a"})
    EXPECT_FALSE(is_network(uri)) << uri;
}

TEST(NetworkUri, OptionsFollowTheHash) {
  const StreamUri plain = parse_stream("rtsp://host:8554/a?b=c");
  EXPECT_EQ(plain.url, "rtsp://host:8554/a?b=c");
  EXPECT_EQ(plain.scheme, "rtsp");
  EXPECT_EQ(plain.transport, Transport::kTcp);
  EXPECT_EQ(plain.timeout, seconds(5));
  EXPECT_EQ(plain.frames, Frames::kAll);
  const StreamUri all = parse_stream("rtsp://host/a?b=c#transport=udp&timeout=1500ms&frames=key");
  EXPECT_EQ(all.url, "rtsp://host/a?b=c") << "no server sees the options";
  EXPECT_EQ(all.name, "rtsp://host/a?b=c");
  EXPECT_EQ(all.transport, Transport::kUdp);
  EXPECT_EQ(all.timeout, milliseconds(1500));
  EXPECT_EQ(all.frames, Frames::kKey);
  EXPECT_EQ(parse_stream("http://host/a#timeout=2.5s&frames=reference").timeout, milliseconds(2500));
  EXPECT_EQ(parse_stream("http://host/a#timeout=7").timeout, seconds(7));
  EXPECT_EQ(parse_stream("http://host/a#").timeout, seconds(5));
}

TEST(NetworkUri, AWrongOptionIsNamedWithWhatIsValid) {
  EXPECT_NE(refused_uri("rtsp://h/a#transport=tls").find("'transport=tls': transport must be tcp or udp"),
            std::string::npos);
  EXPECT_NE(refused_uri("http://h/a#transport=udp").find("transport is an option of rtsp"), std::string::npos);
  EXPECT_NE(refused_uri("rtsp://h/a#frames=some").find("all, reference or key"), std::string::npos);
  for (const char* time : {"", "0", "-1", "5m", "nan", "1e9", "5 s"})
    EXPECT_NE(refused_uri(std::string("rtsp://h/a#timeout=") + time).find("from 100ms to 3600s"), std::string::npos);
  EXPECT_NE(refused_uri("rtsp://h/a#tiemout=5").find("no option 'tiemout'"), std::string::npos);
  EXPECT_NE(refused_uri("rtsp://h/a#timeout").find("not NAME=VALUE"), std::string::npos);
  EXPECT_NE(refused_uri("rtsp://h/a#timeout=5&timeout=6").find("twice"), std::string::npos);
  EXPECT_NE(refused_uri("rtsp:///a").find("names no host"), std::string::npos);
  EXPECT_EQ(refused_uri("rtsp://h:port/a"),
            "rtsp://h:***/a: the port must be a number; write a '/' in a password as %2F");
  EXPECT_EQ(refused_uri("rtsp://admin:se/cret@host/a"),
            "rtsp://admin:***@host/a: the port must be a number; write a '/' in a password as %2F");
  EXPECT_NE(refused_uri("http://:80/a").find("names no host"), std::string::npos);
  parse_stream("udp://@:1234");
}

TEST(NetworkUri, ANameHasNoPassword) {
  const auto name = [](const std::string& uri) { return parse_stream(uri).name; };
  EXPECT_EQ(name("rtsp://admin:secret@host:554/a"), "rtsp://admin:***@host:554/a");
  EXPECT_EQ(name("rtsp://admin@host/a"), "rtsp://admin@host/a");
  EXPECT_EQ(name("rtsp://admin:p@ss:w@host/a"), "rtsp://admin:***@host/a");
  EXPECT_EQ(name("rtsp://[::1]:554/a"), "rtsp://[::1]:554/a");
  EXPECT_EQ(name("http://host/a?channel=1&token=abc/d==&x=2"), "http://host/a?channel=1&token=***&x=2");
  EXPECT_EQ(name("http://host/a?usr=u&pwd=p&loginpas=q"), "http://host/a?usr=u&pwd=***&loginpas=***");
  EXPECT_EQ(name("srt://host:1?passphrase=abcdefghij"), "srt://host:1?passphrase=***");
  EXPECT_EQ(name("rtsp://host/user=admin_password=abc_channel=1/b.sdp"), "rtsp://host/user=admin_password=***/b.sdp");
  EXPECT_EQ(name("rtsp://host/live@1?key=1"), "rtsp://host/live@1?key=***");
}

TEST(NetworkUri, AHashInAPasswordIsNotRepeated) {
  const std::string message = refused_uri("rtsp://admin:one#two@host/a");
  EXPECT_EQ(message.find("one"), std::string::npos) << message;
  EXPECT_EQ(message.find("two"), std::string::npos) << message;
  EXPECT_NE(message.find("%23"), std::string::npos) << message;
}

TEST(NetworkUri, TextsHaveNoPasswords) {
  EXPECT_EQ(redact(""), "");
  EXPECT_EQ(redact("nothing to see: a:b@c"), "nothing to see: a:b@c");
  EXPECT_EQ(redact("Failed to open 'http://u:p@h/a?token=1' and rtsp://v:q@i"),
            "Failed to open 'http://u:***@h/a?token=***' and rtsp://v:***@i");
  EXPECT_EQ(redact("cut: rtsp://user:passw"), "cut: rtsp://user:***");
  EXPECT_EQ(redact("://"), "://");
  EXPECT_EQ(redact("no file 'rtsp:/u:p@h/a', 'rtmpt://u:q@h', 'C:/a:b' or 'd:/'"),
            "no file 'rtsp:/u:***@h/a', 'rtmpt://u:***@h', 'C:/a:b' or 'd:/'");
}

TEST(NetworkUri, TextsHaveNoStreamKeys) {
  EXPECT_EQ(redact("Failed to connect to 'rtmp://u:p@h/live/abcd-1234?x=a/b' and RTMPS://h:1/app/inst/key"),
            "Failed to connect to 'rtmp://u:***@h/live/***?x=a/b' and RTMPS://h:1/app/inst/***");
  EXPECT_EQ(redact("rtmp://host, rtmp://h:1935 or rtsp://h/live/a"), "rtmp://host, rtmp://h:1935 or rtsp://h/live/a");
  EXPECT_EQ(redact(redact("rtmp://h/live/key")), "rtmp://h/live/***");
}

TEST(NetworkUri, ASourceHasTheNameOfItsUrlAlone) {
  EXPECT_EQ(source_name("rtsp://u:p@h/a#timeout=1s"), "rtsp://u:***@h/a");
  EXPECT_EQ(source_name("rtsp://u:***@h/a"), "rtsp://u:***@h/a");
  EXPECT_EQ(source_name("http://h/a?token=b#frames=all"), "http://h/a?token=***");
  EXPECT_EQ(source_name("/data/a#1.mp4"), "/data/a#1.mp4");
  EXPECT_EQ(source_name(""), "");
}

TEST(NetworkUri, AStreamKeyIsHidden) {
  EXPECT_EQ(publish_name("rtmp://u:p@h/live/abcd-1234#timeout=1s"), "rtmp://u:***@h/live/***");
  EXPECT_EQ(publish_name("rtmps://h/live/abcd?x=a/b"), "rtmps://h/live/***?x=a/b");
  EXPECT_EQ(publish_name("rtmp://host"), "rtmp://host");
  EXPECT_EQ(publish_name("rtsp://h/live/a"), "rtsp://h/live/a");
}

}  // namespace
}  // namespace saccade::network
