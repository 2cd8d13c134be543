#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/module.hpp"
#include "base/mqtt_module.hpp"

namespace saccade {
namespace {

using namespace std::chrono_literals;

/// A broker that does what the test says, on the test's thread.
class ScriptedBroker {
 public:
  ScriptedBroker() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 8) != 0)
      throw std::runtime_error("the broker has no port");
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~ScriptedBroker() {
    reset();
    close(listener_);
  }
  ScriptedBroker(const ScriptedBroker&) = delete;
  ScriptedBroker& operator=(const ScriptedBroker&) = delete;

  int port() const { return port_; }

  /// Lets CLIENT in.
  void accept(MqttConnection& client, int wake) {
    client.connect();
    socket_ = ::accept(listener_, nullptr, nullptr);
    constexpr std::string_view kWelcome("\x20\x02\0\0", 4);
    send(kWelcome);
    for (int i = 0; i < 100 && !client.is_connected(); ++i) client.serve(wake, 50ms);
    ASSERT_TRUE(client.is_connected());
  }

  void send(std::string_view bytes) const {
    ASSERT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  /// What has arrived.
  std::string received() const {
    std::array<char, 4096> bytes{};
    const ssize_t size = recv(socket_, bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

  /// Resets the connection: the client's next write fails.
  void reset() {
    if (socket_ < 0) return;
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(socket_);
    socket_ = -1;
  }

 private:
  int listener_;
  int socket_ = -1;
  int port_ = 0;
};

class MqttConnectionTest : public testing::Test {
 protected:
  ~MqttConnectionTest() override { close(wake_); }

  std::unique_ptr<MqttConnection> open(int qos) const {
    MqttOptions options;
    options.host = "127.0.0.1";
    options.port = broker_.port();
    options.qos = qos;
    options.client = "test";
    return module<MqttModule>("mqtt").open(options);
  }

  ScriptedBroker broker_;
  int wake_ = eventfd(0, EFD_CLOEXEC);
};

TEST_F(MqttConnectionTest, AMessageThatALostConnectionKeepsIsPublishedOnce) {
  const auto client = open(1);
  broker_.accept(*client, wake_);
  broker_.reset();
  client->publish("a", "first");
  EXPECT_FALSE(client->can_publish());
  EXPECT_EQ(client->unconfirmed(), 1);
  EXPECT_THROW(client->serve(wake_, 50ms), Error);
  EXPECT_EQ(client->unconfirmed(), 1);
  broker_.accept(*client, wake_);
  std::string bytes = broker_.received();  // CONNECT, and perhaps the message
  if (bytes.find("first") == std::string::npos) {
    client->serve(wake_, 50ms);
    bytes += broker_.received();
  }
  const std::size_t message = bytes.find("first");
  ASSERT_NE(message, std::string::npos);
  EXPECT_EQ(bytes.find("first", message + 1), std::string::npos);
  broker_.send({"\x40\x02" + bytes.substr(message - 2, 2)});
  for (int i = 0; i < 100 && !client->is_idle(); ++i) client->serve(wake_, 50ms);
  EXPECT_TRUE(client->is_idle());
  EXPECT_EQ(client->unconfirmed(), 0);
}

TEST_F(MqttConnectionTest, WithoutConfirmationsThePublisherIsTold) {
  const auto client = open(0);
  broker_.accept(*client, wake_);
  broker_.reset();
  EXPECT_THROW(client->publish("a", "first"), Error);
  EXPECT_FALSE(client->is_connected());
  EXPECT_EQ(client->unconfirmed(), 0);
  broker_.accept(*client, wake_);
  EXPECT_TRUE(client->is_idle());
}

}  // namespace
}  // namespace saccade
