#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ffmpeg/handles.hpp"

namespace saccade {

/// Makes the 'moov' box of an ordinary MP4 or QuickTime file, of packets that lie anywhere in it: FFmpeg's muxer writes
/// them to nowhere, at the places where they are.
class Mp4Index {
 public:
  /// Of the one stream of OUTPUT, whose header is written. Throws Error (kIo).
  explicit Mp4Index(const AVFormatContext& output);
  ~Mp4Index();
  Mp4Index(const Mp4Index&) = delete;
  Mp4Index& operator=(const Mp4Index&) = delete;

  /// PACKET's data, as the muxer writes it, starts at PLACE. Returns where it ends; negative: FFmpeg's error.
  std::int64_t add(AVPacket& packet, std::int64_t place);
  /// The box for a file of which it will be the last one, at PLACE. Empty where it can't be made.
  std::string finish(std::int64_t place);

 private:
  struct Free {
    void operator()(AVFormatContext* context) const noexcept;
  };
  static int take(void* self, std::uint8_t* bytes, int count);
  static std::int64_t move(void* self, std::int64_t offset, int whence);

  std::unique_ptr<AVFormatContext, Free> output_;
  std::int64_t at_ = 0;
  std::int64_t kept_from_ = INT64_MAX;  ///< what is written before it is forgotten
  std::string kept_;
};

}  // namespace saccade
