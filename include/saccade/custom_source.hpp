#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "saccade/frame.hpp"
#include "saccade/outcome.hpp"
#include "saccade/source.hpp"

namespace saccade {

/// Memory for the samples of one frame; it belongs to the pipeline.
struct FramePlanes {
  std::array<std::uint8_t*, 3> data{};  ///< one per plane of the format, 64-byte aligned; null: no such plane
  std::array<int, 3> pitch_bytes{};     ///< row stride per plane, a multiple of 64

  /// Whether there is memory. There is none once the pipeline stops.
  explicit operator bool() const noexcept { return data[0] != nullptr; }
};

/// Gives a CustomSource memory for its frame. Valid until read() returns, on the thread that called it.
class FrameTarget {
 public:
  /// Memory for a frame of FORMAT and WIDTH x HEIGHT pixels. While all buffers of the pipeline are in use, it waits;
  /// for a live source, which can't wait, there is no memory then: skip the frame and return kNoBuffer. Else, without
  /// memory the pipeline has stopped: return kCancelled. Another call within one read() replaces the memory. Allocates
  /// while the pipeline starts and when frames grow, never else. Throws Error (kInvalidArgument) for an invalid size,
  /// (kUnsupported) above the limit of memory; read() lets it pass.
  virtual FramePlanes acquire(PixelFormat format, int width, int height) = 0;

 protected:
  ~FrameTarget() = default;
};

/// The identity of a frame that a CustomSource has read.
struct CapturedFrame {
  std::int64_t sequence = -1;     ///< the source's own count, from 0; a gap is a lost frame; -1: the next number
  std::int64_t timestamp_ns = 0;  ///< of the sensor's clock, or the presentation time
  /// Start of the exposure; nothing if it is unknown. A time that lies ahead is ignored.
  std::optional<std::chrono::steady_clock::time_point> exposed;
  ColorMatrix matrix = ColorMatrix::kBt601;  ///< of YUV formats
  ColorRange range = ColorRange::kLimited;   ///< of YUV formats and kGray8
};

/// A source that the program implements: a camera's SDK, a decoder, images in memory. Source::from() makes a Source of
/// it. One thread of the pipeline calls read(), any thread cancel(), also during read(). The source is destroyed after
/// both have returned for the last time.
class CustomSource {
 public:
  virtual ~CustomSource() = default;
  /// Its properties. They do not change. Any thread.
  virtual const SourceInfo& info() const = 0;
  /// Waits for the next frame, takes memory from TARGET and writes the samples there. Latency::capture is the time from
  /// acquire() to the return. A failure with kCorrupt counts a damaged frame, kNoBuffer a dropped one, kTimeout reads
  /// again (with a message it starts an outage, which the next frame ends), kEnd and kCancelled end the source, kLost
  /// and an exception end it with their message. Should not allocate after the first frames.
  virtual Outcome<CapturedFrame> read(FrameTarget& target) = 0;
  /// Makes a waiting read(), and all later ones, return kCancelled soon. The pipeline waits for it.
  virtual void cancel() noexcept = 0;
};

}  // namespace saccade
