#pragma once

#include <functional>
#include <string>
#include <thread>

namespace saccade::serve {

/// Accepts connections by TCP as long as the process has descriptors for them. gRPC's own listener ends for good at the
/// first connection for which there is none.
class Listener {
 public:
  /// Binds PORT (0: any free one) of the IP address HOST. Throws Error (kIo) naming both.
  Listener(const std::string& host, int port);
  /// As close().
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  /// Hands the descriptor of each new connection to TAKE, which owns it, on a thread of the listener. Called once.
  void start(std::function<void(int descriptor)> take);
  /// Accepts no more. Not on the listener's thread.
  void close();

 private:
  void accept_all(const std::function<void(int descriptor)>& take) const;

  int socket_ = -1;
  int end_ = -1;  ///< an eventfd
  int port_ = 0;
  std::thread thread_;
};

}  // namespace saccade::serve
