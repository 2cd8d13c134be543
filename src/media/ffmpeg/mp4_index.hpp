#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ffmpeg/handles.hpp"

namespace saccade {

/// Creates the 'moov' box of a non-fragmented MP4 or QuickTime file whose packets lie anywhere in it: FFmpeg's muxer
/// writes them to a null output at their actual offsets.
class Mp4Index {
 public:
  /// For the single stream of OUTPUT, whose header is written. Throws Error (kIo).
  explicit Mp4Index(const AVFormatContext& output);
  ~Mp4Index();
  Mp4Index(const Mp4Index&) = delete;
  Mp4Index& operator=(const Mp4Index&) = delete;

  /// Adds PACKET, whose data start at offset PLACE. Returns the offset of their end; negative: FFmpeg's error.
  std::int64_t add(AVPacket& packet, std::int64_t place);
  /// The box, which will be the file's last one, at offset PLACE. Empty on failure.
  std::string finish(std::int64_t place);

 private:
  struct Free {
    void operator()(AVFormatContext* context) const noexcept;
  };
  static int take(void* self, std::uint8_t* bytes, int count);
  static std::int64_t move(void* self, std::int64_t offset, int whence);

  std::unique_ptr<AVFormatContext, Free> output_;
  std::int64_t at_ = 0;
  std::int64_t kept_from_ = INT64_MAX;  ///< output before this offset is discarded
  std::string kept_;
};

}  // namespace saccade
