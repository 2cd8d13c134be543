#pragma once

#include <string_view>

#include "media/isolated/protocol.hpp"

namespace saccade::isolated {

/// One end of the socket between a pipeline and a child; closes it. Any thread may send, one receives.
class Channel {
 public:
  enum class Receipt {
    kMessage,
    kNothing,  ///< there is none yet
    kClosed,   ///< the other process has ended
    kInvalid,  ///< not a message of this version
  };

  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int socket() const { return socket_; }

  /// Waits while the socket's buffer is full. False if the other process has ended. TEXT is truncated to kLongestText.
  template <typename Body>
  bool send(const Body& body, std::string_view text = {}, int descriptor = -1) const {
    return send(Body::kKind, &body, sizeof body, text, descriptor, true);
  }
  /// The same without waiting; false also while the buffer is full.
  template <typename Body>
  bool try_send(const Body& body) const {
    return send(Body::kKind, &body, sizeof body, {}, -1, false);
  }

  /// WAITS for a message. A descriptor is received only if TAKES_DESCRIPTOR.
  Receipt receive(Packet& packet, bool waits, bool takes_descriptor) const;

 private:
  bool send(Kind kind, const void* body, std::size_t size, std::string_view text, int descriptor, bool waits) const;

  int socket_;
};

}  // namespace saccade::isolated
