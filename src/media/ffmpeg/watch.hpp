#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ffmpeg/handles.hpp"

namespace saccade {

/// Knows the first packet about which a decoder complained. FFmpeg's threads mark images as damaged while others
/// output them already, so that the marks come or don't from run to run; what a decoder has to say of a packet it has
/// said on the thread that decodes it, before the packet's turn to output comes.
class DecoderWatch {
 public:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  DecoderWatch();
  ~DecoderWatch();
  DecoderWatch(const DecoderWatch&) = delete;
  DecoderWatch& operator=(const DecoderWatch&) = delete;

  /// Watches DECODER, which is not open yet, from its first packet on.
  void attach(AVCodecContext& decoder) noexcept;
  /// The next packet that goes to DECODER is numbered PACKET; so are the images that come of it.
  void feed(AVCodecContext& decoder, std::int64_t packet) noexcept;
  /// The lowest number of a packet about which the decoder complained; kNone: it did not.
  std::int64_t first_complaint() const noexcept { return first_; }

  /// Whether the decoder, which says of images that they are complete, has not said so of PICTURE: HEVC's passes over
  /// slices that end too early.
  bool is_incomplete(const AVFrame& picture) const noexcept;

  /// A message of LEVEL that FFmpeg formats by FORMAT, said by CONTEXT (an FFmpeg object, or null). Any thread.
  static void hear(void* context, int level, const char* format) noexcept;

 private:
  enum class Said { kNothing, kComplaint, kComplete };

  static Said meaning(int level, std::string_view format) noexcept;
  void note(const AVCodecContext& decoder, Said said) noexcept;

  const AVCodecContext* decoder_ = nullptr;  ///< not one of the copies that FFmpeg makes for its threads
  std::atomic<std::int64_t> fed_{0};
  std::atomic<std::int64_t> first_{kNone};
  std::atomic<bool> tells_complete_{false};
  std::array<std::atomic<std::int64_t>, 256> complete_{};  ///< numbers of packets, each by its remainder
};

}  // namespace saccade
