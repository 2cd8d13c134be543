#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace saccade {

struct MqttOptions {
  std::string host;
  int port = 1883;
  bool tls = false;  ///< with the system's certificates
  std::string user;  ///< empty: none
  std::string password;
  std::string client;  ///< its name at the broker; empty: the broker's choice
  int qos = 0;
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);  ///< without a response of the broker
};

/// A connection to a broker. One thread. Errors are reasons without the broker's name, and leave it disconnected.
class MqttConnection {
 public:
  virtual ~MqttConnection() = default;
  /// Begins to connect, perhaps again. Throws Error (kIo).
  virtual void connect() = 0;
  virtual bool is_connected() const = 0;
  /// Whether publish() would be sent, or the broker has yet to take what was.
  virtual bool can_publish() const = 0;
  /// Whether everything that was published has been sent, and confirmed if the quality of service wants that.
  virtual bool is_idle() const = 0;
  /// The published messages that the broker has yet to confirm, those of earlier connections included; 0 for QoS 0.
  virtual int unconfirmed() const = 0;
  /// With QoS 1 and 2 a message is kept until the broker confirms it, and sent again after the next connect(): a
  /// connection that is lost here is an error of the next serve(). With QoS 0 it is one of publish(), and the message
  /// is gone. Throws Error (kIo).
  virtual void publish(const std::string& topic, const std::string& message) = 0;
  /// Sends and receives for PATIENCE at most, or until the file WAKE is readable. Throws Error (kIo).
  virtual void serve(int wake, std::chrono::milliseconds patience) = 0;
  /// Says goodbye.
  virtual void disconnect() noexcept = 0;
};

/// Interface of the mqtt module (libmosquitto); get it with module<MqttModule>("mqtt").
struct MqttModule {
  /// Does not connect yet. Throws Error.
  std::unique_ptr<MqttConnection> (*open)(const MqttOptions& options);
};

}  // namespace saccade
