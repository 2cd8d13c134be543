#pragma once

#include "ffmpeg/handles.hpp"

namespace saccade {

/// Where the packets of an encoder go: a file, or a server. All functions throw Error (kIo).
class VideoOutput {
 public:
  virtual ~VideoOutput() = default;
  /// AVI has neither timestamps nor B-frames.
  virtual bool is_avi() const { return false; }
  virtual bool needs_global_header() const = 0;
  /// Whether whoever watches waits for each frame.
  virtual bool is_live() const { return false; }
  /// Before the first packet. Packets are ENCODER's.
  virtual void begin(const AVCodecContext& encoder, AVRational rate) = 0;
  /// Packets in decoding order; moves out of PACKET.
  virtual void write(AVPacket& packet) = 0;
  virtual void finish() = 0;
};

}  // namespace saccade
