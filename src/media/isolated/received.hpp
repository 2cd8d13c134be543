#pragma once

#include <stdexcept>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/outcome.hpp"
#include "media/isolated/protocol.hpp"
#include "saccade/log.hpp"
#include "saccade/source.hpp"
#include "tensor/frame.hpp"

namespace saccade::isolated {

/// The child is not to be trusted: a decoder that a hostile file has taken over may send anything. Every function
/// checks the whole message.
class BadMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a message kFrame may refer to.
struct FrameLimits {
  std::uint32_t generation = 0;
  std::size_t buffers = 0;
  std::size_t capacity = 0;  ///< bytes of a buffer
  std::int64_t next = 0;     ///< the least sequence number
};

/// A frame without its lease and name; the planes of `view` are null.
struct ReceivedFrame {
  Frame frame;
  std::size_t index = 0;  ///< of the buffer
  std::array<std::size_t, 3> offset{};
};

/// Without its files, of which `files` follow.
struct ReceivedHello {
  SourceInfo info;
  std::size_t files = 0;
};

struct ReceivedLog {
  LogLevel level = LogLevel::kError;
  std::string_view line;
};

// All throw BadMessage.
ReceivedHello read_hello(const Packet& packet);
/// The path of the image INDEX.
std::string_view read_name(const Packet& packet, std::size_t index);
Error read_error(const Packet& packet);
std::size_t read_need(const Packet& packet);
/// NOW bounds its time of capture.
ReceivedFrame read_frame(const Packet& packet, const FrameLimits& limits, Clock::time_point now);
Failure read_failure(const Packet& packet);
SourceFaults read_faults(const Packet& packet);
ReceivedLog read_log(const Packet& packet);

/// Nanoseconds of the steady clock, which are valid in every process.
inline std::int64_t nanoseconds(Clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

}  // namespace saccade::isolated
