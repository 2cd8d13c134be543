#include "media/network/mqtt_uri.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace saccade::network {
namespace {

TEST(MqttUri, HasTheBrokerAndTheTopic) {
  const MqttUri uri =
      parse_mqtt("mqtt://us%40er:p%2Fa%23ss@broker:1884/a/{stream}#qos=2&backlog=7&timeout=500ms&client=c");
  EXPECT_EQ(uri.broker.host, "broker");
  EXPECT_EQ(uri.broker.port, 1884);
  EXPECT_FALSE(uri.broker.tls);
  EXPECT_EQ(uri.broker.user, "us@er");
  EXPECT_EQ(uri.broker.password, "p/a#ss");
  EXPECT_EQ(uri.broker.qos, 2);
  EXPECT_EQ(uri.broker.timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(uri.broker.client, "c");
  EXPECT_EQ(uri.backlog, 7U);
  EXPECT_EQ(uri.topic, "a/{stream}");
  EXPECT_EQ(uri.name, "mqtt://us%40er:***@broker:1884/a/{stream}");
}

TEST(MqttUri, HasDefaults) {
  const MqttUri plain = parse_mqtt("mqtt://[::1]/a");
  EXPECT_EQ(plain.broker.host, "::1");
  EXPECT_EQ(plain.broker.port, 1883);
  EXPECT_EQ(plain.broker.user, "");
  EXPECT_EQ(plain.broker.qos, 0);
  EXPECT_EQ(plain.backlog, 1000U);
  const MqttUri secure = parse_mqtt("mqtts://broker/a");
  EXPECT_TRUE(secure.broker.tls);
  EXPECT_EQ(secure.broker.port, 8883);
}

TEST(MqttUri, IsRefusedWithoutItsPassword) {
  for (const char* uri :
       {"mqtt://u:secret@h", "mqtt://u:secret@/a", "mqtt://u:secret@h:0/a", "mqtt://u:secret@h/+/a",
        "mqtt://u:secret@h/a#qos=3", "mqtt://u:secret@h/a#qos", "mqtt://u:secret@h/a#x=1", "mqtt://u:secret#a@h/a",
        "rtsp://u:secret@h/a", "mqtt://u:secret@h/a#backlog=0", "mqtt://u:sec/ret@h/a", "mqtt://u:sec%ret@h/a",
        "mqtt://u:sec%00ret@h/a", "mqtt://u:secret@h/a#timeout=1h", "mqtt://u:secret@h/a\xff"}) {
    try {
      parse_mqtt(uri);
      FAIL() << uri << " is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << uri;
      EXPECT_EQ(std::string(error.what()).find("sec"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace saccade::network
