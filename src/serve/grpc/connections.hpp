#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace saccade::serve {

/// How many bytes have come over each connection by TCP: gRPC tells of a message only when it is complete. Any thread.
class Connections {
 public:
  /// DESCRIPTOR is a new connection, which gRPC owns and closes from now on.
  void add(int descriptor);
  /// Of the connection with PEER, as grpc::ServerContext::peer() names it. nullopt: it is not known, or closed.
  std::optional<std::uint64_t> received_bytes(const std::string& peer) const;

 private:
  struct Connection {
    int descriptor = -1;
    std::uint64_t cookie = 0;  ///< of the socket: the descriptor may be another one's by now
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Connection> by_peer_;
  std::vector<std::string> peers_;  ///< by descriptor: those whose number is used again are forgotten
};

}  // namespace saccade::serve
