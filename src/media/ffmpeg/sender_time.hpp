#pragma once

#include <cstdint>
#include <optional>

#include "ffmpeg/handles.hpp"

namespace saccade {

/// The sender's time of frames, by the reports of RTCP. FFmpeg attaches it to the packet that it returns when it sees
/// the beginning of the next one, wherever it has to look for the ends of frames itself: it is that of the next one
/// then. The difference between presentation and sender's time, which changes with each report only, does not depend on
/// that once both are known. One thread.
class SenderTime {
 public:
  /// A connection with this codec begins.
  void restart(AVCodecID codec) noexcept;
  /// What is added to presentation times, in nanoseconds, for the sender's time since 1970, after PACKET with
  /// timestamps in UNIT; nothing: unknown.
  std::optional<std::int64_t> offset_at(const AVPacket& packet, AVRational unit) noexcept;

 private:
  bool is_next_ = false;                ///< the time that comes with a packet is that of the next one
  std::optional<std::int64_t> before_;  ///< the time that came with the packet before, in nanoseconds
  std::optional<std::int64_t> offset_;
};

}  // namespace saccade
