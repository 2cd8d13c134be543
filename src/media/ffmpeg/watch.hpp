#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ffmpeg/handles.hpp"

namespace saccade {

/// Records the first packet about which a decoder logged an error. FFmpeg's threads flag images as damaged while others
/// output them already, so that the flags differ from run to run. Messages about a packet, however, are logged on the
/// thread that decodes it, before its image is output.
class DecoderWatch {
 public:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  DecoderWatch();
  ~DecoderWatch();
  DecoderWatch(const DecoderWatch&) = delete;
  DecoderWatch& operator=(const DecoderWatch&) = delete;

  /// Observes DECODER, which is not open yet or was just flushed, from its next packet on.
  void attach(AVCodecContext& decoder) noexcept;
  /// The next packet sent to DECODER has the number PACKET, and so have its images.
  void feed(AVCodecContext& decoder, std::int64_t packet) noexcept;
  /// The lowest number of a packet with an error; kNone: there is none.
  std::int64_t first_complaint() const noexcept { return first_; }

  /// Whether the decoder, which reports complete images, has not reported IMAGE: HEVC's ignores truncated slices.
  bool is_incomplete(const AVFrame& image) const noexcept;

  /// A message of LEVEL with the format string FORMAT, logged by CONTEXT (an FFmpeg object, or null). Any thread.
  static void hear(void* context, int level, const char* format) noexcept;

 private:
  enum class Said { kNothing, kComplaint, kComplete };

  static Said meaning(int level, std::string_view format) noexcept;
  void note(const AVCodecContext& decoder, Said said) noexcept;

  const AVCodecContext* decoder_ = nullptr;  ///< not one of FFmpeg's per-thread copies
  std::atomic<std::int64_t> fed_{0};
  std::atomic<std::int64_t> first_{kNone};
  std::atomic<bool> tells_complete_{false};
  std::array<std::atomic<std::int64_t>, 256> complete_{};  ///< packet numbers, indexed modulo the size
};

}  // namespace saccade
